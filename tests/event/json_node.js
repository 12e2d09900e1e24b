// SPDX-License-Identifier: MIT
// The differential test of the JSON cursor with JSON.parse as the judge: verdicts, and values
// after compacting. Run by json_node.t with the path of t_json_oracle.
'use strict';
const { spawnSync } = require('child_process');
const { isDeepStrictEqual } = require('util');

let state = 88172645463325252n;
function dice(sides) {
    state = BigInt.asUintN(64, state ^ (state << 13n));
    state ^= state >> 7n;
    state = BigInt.asUintN(64, state ^ (state << 17n));
    return Number((state >> 32n) % BigInt(sides));
}
const pick = (list) => list[dice(list.length)];

const pieces = ['a', 'text of more than sixteen bytes', '\\n', '\\\\', '\\"', '\\/', '\\u0041',
    '\\ud83d', '\\ude00', '\\ud83d\\ude00', '\\u0000', '\\uFFFF', '\u00e4', '\u20ac', '\u2028',
    '\u{1f600}', '\x7f', '{', '\ufeff'];
const numbers = ['0', '-0', '12', '1.5', '-1e3', '1E+2', '1e400', '-1e400', '1e-400', '0.1',
    '9007199254740993', '9223372036854775808', '-9223372036854775809', '1'.repeat(30), '2e308'];
const spaces = ['', '', '', ' ', '\t', '\r\n'];
const soup = '"\\{}[]:,. 0-+eEu/tn\x00\x01\x1f\n\x7f\u00e4\ufeff\v\f\u00a0'.split('');

function string() {
    let text = '';
    for (let n = dice(6); n; n--) text += pick(pieces);
    return `"${text}"`;
}

function value(depth) {
    const kind = dice(depth < 5 ? 8 : 4);
    const list = (item) => Array.from({ length: dice(4) }, item).join(',');
    const pad = (text) => pick(spaces) + text + pick(spaces);
    if (kind === 0) return pad(pick(['null', 'true', 'false']));
    if (kind === 1) return pad(pick(numbers));
    if (kind < 4) return pad(string());
    if (kind < 6) return pad(`[${list(() => value(depth + 1))}${pick(spaces)}]`);
    return pad(`{${list(() => pad(string()) + ':' + value(depth + 1))}${pick(spaces)}}`);
}

function damaged(text) {
    const units = [...text];
    units.splice(dice(units.length + 1), dice(2), ...(dice(4) ? [pick(soup)] : []));
    return units.join('');
}

// What json_compact promises to mend.
function mended(v) {
    if (typeof v === 'string') return v.replace(/[\0\ud800-\udfff]/gu, '\ufffd');
    if (typeof v === 'number') return Number.isFinite(v) ? v : null;
    if (Array.isArray(v)) return v.map(mended);
    if (v === null || typeof v !== 'object') return v;
    return Object.fromEntries(Object.entries(v).map(([key, item]) => [mended(key), mended(item)]));
}

function keysCollide(v) {
    if (v === null || typeof v !== 'object') return false;
    const keys = Object.keys(v);
    return new Set(keys.map(mended)).size < keys.length || Object.values(v).some(keysCollide);
}

function parse(text) {
    try {
        return { value: JSON.parse(text) };
    } catch {
        return null;
    }
}

const texts = [...pieces, ...numbers, ...soup, '', ' ', '{}', '[]', 'NaN', 'Infinity', "'a'", '[1,]',
    '{"a":1,}', '{a:1}', '01', '1.', '.5', '+1', '"\t"', '\ufeff{}', '"\\x41"', '// x\n1'];
for (let i = 0; i < 6000; i++) {
    const text = value(0);
    texts.push(text, damaged(text), damaged(damaged(text)));
}

const input = texts.map((text) => Buffer.from(text).toString('hex') + '\n').join('');
const run = spawnSync(process.argv[2], ['--verdicts'], { input, maxBuffer: 1 << 28 });
const answers = run.stdout.toString().split('\n');
const report = { verdict: 0, value: 0 };
let accepted = 0;
texts.forEach((text, i) => {
    const judged = parse(text);
    accepted += judged !== null;
    const disagrees = (what) => report[what]++ < 5 &&
        console.log(`# ${what}: ${JSON.stringify(text)} gives ${answers[i]}`);
    if ((judged === null) !== (answers[i] === '-')) disagrees('verdict');
    else if (judged !== null && !keysCollide(judged.value) &&
             !isDeepStrictEqual(mended(judged.value), parse(answers[i])?.value)) disagrees('value');
});
const ok = (good, n, what) => console.log(`${good ? 'ok' : 'not ok'} ${n} - ${what}`);
console.log('1..4');
ok(run.status === 0 && answers.length === texts.length + 1, 1, 'every text was answered');
ok(accepted > 6000 && accepted < texts.length - 3000, 2, `of ${texts.length} texts some are JSON`);
ok(report.verdict === 0, 3, 'the verdicts are those of JSON.parse');
ok(report.value === 0, 4, 'the values are those of JSON.parse');
process.exitCode = report.verdict + report.value ? 1 : 0;
