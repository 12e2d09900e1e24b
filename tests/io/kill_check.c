/* SPDX-License-Identifier: MIT
 * Checks the state of a host after it was killed. */
#include "io/kill_check.h"

#include <stdio.h>

#include "tap/tap.h"

/* Every delivery that each ended turn requires: connector, turn and piece. */
#define PARTS                                                                                      \
    "(select t.id turn, t.state slot, n.piece piece, c.conn conn from turn t,"                     \
    " (select 'tg' conn union all select 'slack') c,"                                              \
    " (select 1 piece union all select 2 union all select 3) n where t.state in('final','error')"  \
    " and n.piece<=1+cast(substr(t.id,2) as integer)%3) part"
#define TOLD(slot_, piece_)                                                                        \
    "exists(select 1 from told e where e.conn=part.conn and e.turn=part.turn and e.slot=" slot_    \
    " and e.piece=" piece_ ")"
#define DEAD(body_)                                                                                \
    "exists(select 1 from dead d where d.conn=part.conn and d.turn=part.turn"                      \
    " and cast(d.body as text) glob " body_ ")"
#define EARLIER(condition)                                                                         \
    "exists(select 1 from told e where e.conn=t.conn and e.turn=t.turn and e.seq<t.seq"            \
    " and " condition ")"
#define SAME "e.slot=t.slot and e.piece=t.piece and e.fallback=t.fallback"
/* The order of the deliveries of one turn: notes, the first piece, what follows it, the other
 * pieces. */
#define RANK(x) "(case " x ".slot when 'note' then 0 when 'after' then 3 else 2*" x ".piece end)"

const struct question kill_wrong[] = {
    {"acknowledged messages without a turn",
     "select (select count(*) from acked) - (select count(*) from inbox where msg_id in"
     " (select 'c'||message from acked))"},
    {"messages with two turns",
     "select count(*)-count(distinct substr(id, 1, instr(id,'-'))) from turn"},
    {"turns that did not end", "select count(*) from turn where ended_at is null"},
    {"turns merged into a turn that does not exist",
     "select count(*) from turn m where m.state='merged' and not exists"
     " (select 1 from turn where id=m.code and state in('final','error'))"},
    {"pieces of an outcome that were neither delivered nor are dead letters",
     "select count(*) from " PARTS " where not " TOLD("part.slot", "part.piece") " and not " DEAD(
         "part.slot||' '||part.piece||' *'") " and not " DEAD("part.slot")},
    {"first pieces without the request that follows them",
     "select count(*) from " PARTS
     " where part.piece=1 and not " TOLD("'after'", "1") " and not " DEAD(
         "'after 1 *'") " and not " DEAD("part.slot||' 1 *'") " and not " DEAD("part.slot")},
    {"delivered outcomes that are not the outcome of the turn",
     "select count(*) from told t where t.slot in('final','error') and not exists"
     " (select 1 from turn where id=t.turn and state=t.slot)"},
    {"deliveries in the wrong order",
     "select count(*) from told t where " EARLIER(RANK("e") ">" RANK("t"))},
    {"repeats of deliveries that were not in doubt",
     "select count(*) from told t where t.in_doubt=0 and " EARLIER(SAME)},
    {"repeats that neither a kill nor a lost reply explains",
     "select max(0, (select count(*) from told t where " EARLIER(
         SAME) ") - (select kills from lives) - (select count(*) from told where lost))"},
    {"turns that are left in the table memory", "select count(*) from memory"},
    {NULL, NULL},
};

const struct question kill_counts[] = {
    {"messages acknowledged", "select count(*) from acked"},
    {"turns", "select count(*) from turn"},
    {"interrupted turns", "select count(*) from turn where code='host_restart'"},
    {"merged or cancelled turns", "select count(*) from turn where state in('merged','cancelled')"},
    {"deliveries", "select count(*) from told"},
    {"repeated deliveries", "select count(*) from told t where " EARLIER(SAME)},
    {"fallback deliveries", "select count(*) from told where fallback"},
    {"lost replies", "select count(*) from told where lost"},
    {"dead letters", "select count(*) from dead"},
    {NULL, NULL},
};

int64_t kill_ask(struct sql *db, const char *text)
{
    int64_t n = -1;
    if (sql_select_int(db, text, &n) < 0)
        bail("%s: %s", text, sql_error_text(db));
    return n;
}

static void load_told(struct sql *db, const char *path)
{
    FILE *const f = fopen(path, "re");
    char conn[8], turn[32], slot[8];
    int piece, fallback, in_doubt, lost;
    while (f && fscanf(f, "%7s %31s %7s %d %d %d %d", conn, turn, slot, &piece, &fallback,
                       &in_doubt, &lost) == 7)
        if (sql_run(db,
                    "insert into told(conn,turn,slot,piece,fallback,in_doubt,lost)"
                    " values(?1,?2,?3,?4,?5,?6,?7)",
                    sql_text(conn), sql_text(turn), sql_text(slot), sql_int(piece),
                    sql_int(fallback), sql_int(in_doubt), sql_int(lost)) < 0)
            bail("%s", sql_error_text(db));
    if (f)
        fclose(f);
}

static void load_acks(struct sql *db, const char *path)
{
    FILE *const f = fopen(path, "re");
    int message;
    while (f && fscanf(f, "%d", &message) == 1)
        if (sql_run(db, "insert into acked values(?1)", sql_int(message)) < 0)
            bail("%s", sql_error_text(db));
    if (f)
        fclose(f);
}

struct sql *kill_load(const char *dir, const char *service, const char *acks, int kills)
{
    char path[700];
    snprintf(path, sizeof path, "%s/state.db", dir);
    enum sql_failure failure;
    struct sql *const db = sql_open(path, &failure, NULL);
    if (!db || sql_script(db, "begin; create table acked(message integer);"
                              "create table lives(kills integer);"
                              "create table told(seq integer primary key, conn text, turn text,"
                              " slot text, piece integer, fallback integer, in_doubt integer,"
                              " lost integer);"
                              "create index dead_receiver on dead(conn, turn);"
                              "create index told_receiver on told(conn, turn);") < 0)
        bail("cannot read the journal");
    load_told(db, service);
    load_acks(db, acks);
    if (sql_run(db, "insert into lives values(?1)", sql_int(kills)) < 0 ||
        sql_script(db, "commit") < 0)
        bail("%s", sql_error_text(db));
    return db;
}

bool kill_is_sound(struct sql *db)
{
    struct sql_rows rows = sql_select(db, "pragma integrity_check");
    const bool sound = sql_next(&rows) && str_is(sql_column_text(&rows, 0), "ok");
    return sql_finish(&rows) == 0 && sound;
}
