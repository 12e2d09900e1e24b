/* SPDX-License-Identifier: MIT
 * A connector whose init returns when `count` of them are in theirs: each leaves a file in
 * `folder`.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <turncast/plugin.h>

#define PATIENCE_S 8 /* less than an init may take */

struct conf {
    const char *folder;
    int64_t count;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, folder, NULL, TC_REQUIRED, "where they meet"),
    TC_OPTION(struct conf, count, "2", 0, "how many they are"),
    {0},
};

static int64_t who_is_there(const char *folder)
{
    int64_t n = 0;
    DIR *const d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static int init(struct tc_instance *inst)
{
    const struct conf *const conf = inst->conf;
    char mine[4096];
    snprintf(mine, sizeof mine, "%s/%s", conf->folder, inst->name);
    const int fd = open(mine, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    close(fd);
    const time_t end = time(NULL) + PATIENCE_S;
    while (who_is_there(conf->folder) < conf->count && time(NULL) < end)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return who_is_there(conf->folder) < conf->count ? -1 : 0;
}

TURNCAST_PLUGIN(.name = "meets", .version = "1", .summary = "waits for its like in init",
                .conf_size = sizeof(struct conf), .options = options, .init = init,
                .sink = TC_SINK(.on_event = NULL));
