/* SPDX-License-Identifier: MIT
 * Finds the files of conf.d, and merges their trees. */
#include "conf/parse/conf_merge.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define MAIN_NAME "turncast.conf"
#define FOLDER_NAME "conf.d"
#define ENDING ".conf"

/* ---- trees ---- */

static void conf_merge_fail_twice(const struct conf_node *first, const struct conf_node *second,
                                  const struct conf_node *group, struct findings *findings)
{
    CLEANUP_FREE char *place = xasprintf("%s:%d", second->file, second->line);
    CLEANUP_FREE char *key = xstrdup(second->name);
    for (; group && group->parent; group = group->parent) {
        char *const longer = xasprintf("%s.%s", group->name, key);
        free(key);
        key = longer;
    }
    findings_add(findings, FINDING_ERROR, place, "%s: already set at %s:%d; remove one of them",
                 key, first->file, first->line);
}

static struct conf_node *conf_merge_find(const struct conf_node *group, const char *name)
{
    for (size_t i = 0; i < group->n; i++)
        if (strcmp(group->items[i].name, name) == 0)
            return &group->items[i];
    return NULL;
}

/* Updates parent pointers after the items of a group were moved. */
static void conf_merge_set_parents(struct conf_node *group)
{
    for (size_t i = 0; i < group->n; i++) {
        struct conf_node *const item = &group->items[i];
        item->parent = group;
        for (size_t k = 0; k < item->n; k++)
            item->items[k].parent = item;
    }
}

static void conf_merge_groups(struct arena *a, struct conf_node *to, const struct conf_node *from,
                              struct findings *findings)
{
    struct conf_node *const items = arena_alloc(a, (to->n + from->n) * sizeof *items);
    if (to->n)
        memcpy(items, to->items, to->n * sizeof *items);
    to->items = items;
    conf_merge_set_parents(to);
    for (size_t i = 0; i < from->n; i++) {
        const struct conf_node *const item = &from->items[i];
        struct conf_node *const same = conf_merge_find(to, item->name);
        if (!same)
            items[to->n++] = *item;
        else if (same->type != NODE_GROUP || item->type != NODE_GROUP)
            conf_merge_fail_twice(same, item, to, findings);
        else
            conf_merge_groups(a, same, item, findings);
    }
    conf_merge_set_parents(to);
}

/* ---- the directory ---- */

/* Permissions of the directory are checked like those of a file, because a new file in it can set
 * any key. */
static int conf_merge_check_folder(int fd, const char *folder, struct tc_err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set_errno(err, errno, folder, "cannot read the file status");
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(err, folder, "is owned by UID %u, which could add files; run: chown %u %s",
                       (unsigned)st.st_uid, (unsigned)geteuid(), folder);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(err, folder, "is writable by other users; run: chmod go-w %s", folder);
    return 0;
}

static int conf_merge_is_wanted(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name), ending = strlen(ENDING);
    return entry->d_name[0] != '.' && len > ending &&
           strcmp(entry->d_name + len - ending, ENDING) == 0;
}

static int conf_merge_compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The names in byte order, freed by the caller; 0 without a directory. -1 with err. */
static int conf_merge_list(const char *folder, struct dirent ***names, struct tc_err *err)
{
    *names = NULL;
    DIR *const dir = opendir(folder);
    if (!dir)
        return errno == ENOENT ? 0 : err_set_errno(err, errno, folder, "cannot open");
    const int trusted = conf_merge_check_folder(dirfd(dir), folder, err);
    closedir(dir);
    if (trusted < 0)
        return -1;
    const int n = scandir(folder, names, conf_merge_is_wanted, conf_merge_compare);
    return n < 0 ? err_set_errno(err, errno, folder, "cannot read the directory") : n;
}

static int conf_merge_add_file(struct arena *a, struct conf_node *root, const char *path,
                               struct findings *findings)
{
    struct tc_err err = {0};
    const struct conf_node *const part = conf_node_parse_file(a, path, &err);
    if (!part)
        return findings_add_err(findings, FINDING_ERROR, &err);
    conf_merge_groups(a, root, part, findings);
    return 0;
}

static int conf_merge_add_folder(struct arena *a, struct conf_node *root, const char *folder,
                                 struct findings *findings)
{
    struct tc_err err = {0};
    struct dirent **names;
    const int n = conf_merge_list(folder, &names, &err);
    int rc = n < 0 ? findings_add_err(findings, FINDING_ERROR, &err)
             : n <= CONF_MERGE_FILES
                 ? 0
                 : findings_add(findings, FINDING_ERROR, folder,
                                "too many files (%d); the limit is %d", n, CONF_MERGE_FILES);
    for (int i = 0; i < n; i++) {
        char *const path = arena_sprintf(a, "%s/%s", folder, names[i]->d_name);
        if (n <= CONF_MERGE_FILES && conf_merge_add_file(a, root, path, findings) < 0)
            rc = -1;
        free(names[i]);
    }
    free(names);
    return rc;
}

const struct conf_node *conf_merge_read(struct arena *a, const char *path,
                                        struct findings *findings)
{
    struct tc_err err = {0};
    struct conf_node *const root = conf_node_parse_file(a, path, &err);
    const char *const slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash + 1 - path) : 0;
    if (!root)
        findings_add_err(findings, FINDING_ERROR, &err);
    if (!root || strcmp(path + folder, MAIN_NAME) != 0)
        return root;
    const char *const beside = arena_sprintf(a, "%.*s" FOLDER_NAME, folder, path);
    return conf_merge_add_folder(a, root, beside, findings) < 0 ? NULL : root;
}
