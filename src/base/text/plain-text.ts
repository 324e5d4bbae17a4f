/**
 * Characters that change what a terminal or a page shows of the text around them: controls (C0, DEL, C1), separators of lines, and
 * embeddings, overrides and isolates of the direction of writing.
 */
const ALL_BUT_LINES =
  "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069";
const CONTROLS = `\\t\\r\\n${ALL_BUT_LINES}`;
/** Also a carriage return that does not end a line: the following text would overwrite the line. */
const NO_LINE_END = `[${ALL_BUT_LINES}]|\\r(?!\\n)`;

const CONTROL = new RegExp(`[${CONTROLS}]`);
const ALL_CONTROLS = new RegExp(`[${CONTROLS}]+`, "g");
const CONTROL_BUT_LINE = new RegExp(NO_LINE_END);
const EACH_BUT_LINE = new RegExp(NO_LINE_END, "g");
const EACH_CONTROL = new RegExp(`[${CONTROLS}]`, "g");

/** Returns whether a text has a character that a name must not have. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}

/** Like `hasControls`, for a text that may have several lines and tabs, such as a prompt. */
export function hasControlsInLines(text: string): boolean {
  return CONTROL.test(text) && CONTROL.test(text.replace(/[\n\r\t]/g, ""));
}

/** Returns a name from another system without control characters: each run of them becomes a space. */
export function cleanName(text: string): string {
  return text.replace(ALL_CONTROLS, " ").trim();
}

/** Returns a text on one line, with control characters made visible as in JSON: `\u001b`. */
export function escapeControls(text: string): string {
  return CONTROL.test(text) ? text.replace(EACH_CONTROL, printCode) : text;
}

/** Like `escapeControls`, for a text of several lines. JSON strings keep their meaning. */
export function escapeLines(text: string): string {
  return CONTROL_BUT_LINE.test(text) ? text.replace(EACH_BUT_LINE, printCode) : text;
}

function printCode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
