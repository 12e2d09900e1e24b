// SPDX-License-Identifier: MIT
// Appends to the file `slow` each turn that took longer than `over_s`, a real number.
//
// Build: rustc --edition 2021 --crate-type cdylib -C panic=abort slow.rs -o slow.so
// Instance: slow = { over_s = 60.0; };
//
// The structs are the beginning of those in <turncast/plugin.h>; `size` and `minor` tell the host
// how much of them there is. A panic ends the process of the instance, which is started again.
use std::ffi::CStr;
use std::fs::OpenOptions;
use std::io::Write;
use std::mem::size_of;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::null;

#[repr(C)]
struct Instance {
    host: *const c_void,
    name: *const c_char,
    conf: *const Conf,
}

#[repr(C)]
struct Turn {
    inst: *const Instance,
    state: *mut f64, // of turn_size bytes: when it started,
    id: *const c_char,
    agent: *const c_char,
}

#[repr(C)]
struct Meta {
    seq: u64,
    ts: f64, // Unix seconds
}

// Every event begins with it.
#[repr(C)]
struct Start {
    meta: *const Meta,
}

#[repr(C)]
struct Done {
    meta: *const Meta,
    reason: *const c_char,
}

type Callback<T> = Option<extern "C" fn(&Turn, &T) -> c_int>;

#[repr(C)]
struct Sink {
    size: usize,
    others: [Callback<c_void>; 7], // on_narration to on_error
    on_done: Callback<Done>,
    more: [Callback<c_void>; 3], // on_message to on_request
    on_start: Callback<Start>,
}

#[repr(C)]
struct TcOption {
    key: *const c_char,
    kind: c_int,
    offset: usize,
    default: *const c_char,
    flags: u32,
    help: *const c_char,
}
const TC_T_REAL: c_int = 3;

#[repr(C)]
pub struct Plugin {
    size: u32,
    major: u32,
    minor: u32,
    flags: u32,
    name: *const c_char,
    version: *const c_char,
    summary: *const c_char,
    conf_size: usize,
    state_size: usize,
    turn_size: usize,
    options: *const TcOption,
    init: Option<extern "C" fn(*const Instance) -> c_int>,
    teardown: Option<extern "C" fn(*const Instance)>,
    sink: *const Sink,
}

// Constants; the host only reads them.
unsafe impl Sync for TcOption {}
unsafe impl Sync for Plugin {}

macro_rules! c {
    ($text:literal) => {
        concat!($text, "\0").as_ptr().cast()
    };
}

#[repr(C)]
struct Conf {
    over_s: f64,
}

// A string of the host: valid UTF-8, until the callback returns.
fn text<'a>(p: *const c_char) -> &'a str {
    unsafe { CStr::from_ptr(p) }.to_str().unwrap_or("?")
}

extern "C" fn on_start(turn: &Turn, start: &Start) -> c_int {
    unsafe { *turn.state = (*start.meta).ts };
    0
}

extern "C" fn on_done(turn: &Turn, done: &Done) -> c_int {
    let (over_s, took) = unsafe { ((*(*turn.inst).conf).over_s, (*done.meta).ts - *turn.state) };
    if took <= over_s {
        return 0;
    }
    let line = format!("{} {} {:.1} s\n", text(turn.agent), text(done.reason), took);
    let file = OpenOptions::new().append(true).create(true).open("slow");
    match file.and_then(|mut file| file.write_all(line.as_bytes())) {
        Ok(()) => 0,
        Err(_) => -1,
    }
}

static OPTIONS: [TcOption; 2] = [
    TcOption {
        key: c!("over_s"),
        kind: TC_T_REAL,
        offset: 0,
        default: c!("60"),
        flags: 0,
        help: c!("seconds until a turn is slow"),
    },
    TcOption { key: null(), kind: 0, offset: 0, default: null(), flags: 0, help: null() },
];

static SINK: Sink = Sink {
    size: size_of::<Sink>(),
    others: [None; 7],
    on_done: Some(on_done),
    more: [None; 3],
    on_start: Some(on_start),
};

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static turncast_plugin: Plugin = Plugin {
    size: size_of::<Plugin>() as u32,
    major: 1,
    minor: 0,
    flags: 0,
    name: c!("slow"),
    version: c!("1.0"),
    summary: c!("turns that take long"),
    conf_size: size_of::<Conf>(),
    state_size: 0,
    turn_size: size_of::<f64>(),
    options: OPTIONS.as_ptr(),
    init: None,
    teardown: None,
    sink: &SINK,
};
