-- SPDX-License-Identifier: MIT
-- A journal as its first schema had it: a turn that runs, one that waits, one that is to be told.
create table turn( id text primary key, agent text not null, conv text not null, source text not
    null, state text not null check(state
    in('waiting','running','final','error','merged','cancelled')), code text, boot_id text,
    agent_pid integer, agent_start integer, cgroup text, admitted_at integer not null, ended_at
    integer, route text, files text, prompt text) strict;
create index turn_ended on turn(ended_at);
create table inbox( source text, msg_id text, turn_id text not null, seen_at integer not null,
    primary key(source, msg_id)) strict, without rowid;
create index inbox_seen on inbox(seen_at);
create table outbox( seq integer primary key autoincrement, pos integer not null, sub integer not
    null, conn text not null, lane text not null, turn text not null, kind text not null
    check(kind in('outcome','request')), priority integer not null, state text not null default
    'queued' check(state in('queued','sending')), attempts integer not null default 0, crashes
    integer not null default 0, in_doubt integer not null default 0, at integer not null, expires
    integer not null, body blob not null) strict;
create index outbox_order on outbox(conn, pos, sub);
create index outbox_age on outbox(expires) where state='queued';
create index outbox_turn on outbox(turn, conn);
create unique index outbox_outcome on outbox(turn, conn) where kind='outcome';
create table dead( id integer primary key autoincrement, conn text not null, lane text not null,
    turn text not null, kind text not null, priority integer not null, attempts integer not null,
    reason text not null, at integer not null, body blob not null) strict;
create table memory(conn text, turn text, text text not null, primary key(conn, turn)) strict,
    without rowid;
create table kv(key text primary key, value any not null) strict, without rowid;
insert into turn(id, agent, conv, source, state, admitted_at) values
    ('t1', 'a', 'c', 'telegram', 'running', 1800000000000);
insert into turn(id, agent, conv, source, state, admitted_at, prompt, route) values
    ('t2', 'a', 'c', 'telegram', 'waiting', 1800000000000, 'hello', '{}');
insert into turn(id, agent, conv, source, state, admitted_at, ended_at) values
    ('t3', 'a', 'c', 'telegram', 'final', 1800000000000, 1800000000000);
insert into inbox values('telegram', 'm1', 't1', 1800000000000);
insert into outbox(seq, pos, sub, conn, lane, turn, kind, priority, at, expires, body) values
    (7, 7, 0, 'tg', 'c', 't3', 'outcome', 0, 1800000000000, 1900000000000, x'7433');
pragma user_version=1;
