// SPDX-License-Identifier: MIT
// Makes visible what a reader of an agent's text cannot see. Of a request the host has done so
// already (preview); this is for calls of tools and their results.

// Controls, characters that turn the direction of text, zero-width and other invisible ones, tags.
// Spaces, and the joiners of emoji and of scripts that need them, stay.
const hidden = new RegExp("\\r(?!\\n)|[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c" +
  "\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0d\\ufeff" +
  "\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]|(?<=[\\u0000-\\u007f])[\\u200c\\u200d\\ufe0e\\ufe0f]", "gu");

// "a\u202eb" as "a<U+202E>b".
export function visible(value) {
  return value.replace(hidden, (c) => `<U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
}
