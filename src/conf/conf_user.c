/* SPDX-License-Identifier: MIT
 * The system user of an agent, looked up once when the configuration is loaded. */
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "conf/conf_internal.h"

#define GROUPS_MAX (1 << 16)

/* getgrouplist reports the number of groups only if the array is too small. */
static void read_groups(struct arena *a, struct conf_user *u)
{
    int n = 32, room;
    gid_t *found = NULL;
    do {
        room = n;
        found = xrealloc(found, (size_t)room * sizeof *found);
    } while (getgrouplist(u->name, u->gid, found, &n) < 0 && n > room && n <= GROUPS_MAX);
    u->n_groups = (size_t)(n < room ? n : room);
    u->groups = arena_alloc(a, u->n_groups * sizeof *u->groups);
    for (size_t i = 0; i < u->n_groups; i++)
        u->groups[i] = found[i];
    free(found);
}

int conf_user_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target)
{
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    const struct passwd *const pw = getpwnam(n->value.string);
    if (!pw)
        return conf_row_error(r, n, "unknown user \"%s\"; use the name of a user of this system",
                              n->value.string);
    struct conf_user *const u = arena_alloc(r->arena, sizeof *u);
    *u = (struct conf_user){
        .name = arena_strdup(r->arena, pw->pw_name),
        .home = arena_strdup(r->arena, pw->pw_dir),
        .shell = arena_strdup(r->arena, pw->pw_shell),
        .uid = pw->pw_uid,
        .gid = pw->pw_gid,
    };
    read_groups(r->arena, u);
    void *const member = (char *)target + row->offset;
    *(struct conf_user **)member = u;
    return 0;
}

int conf_check_agent_user(const struct conf *c, const struct conf_agent *a, struct tc_err *err)
{
    if (!a->user || geteuid() == 0 || geteuid() == a->user->uid)
        return 0;
    CLEANUP_FREE char *place = conf_format_place(c, a->file, a->line);
    return err_set(err, place, "agents.%s.user: turncast must run as root to become \"%s\"",
                   a->name, a->user->name);
}
