import { asFields, type Fields } from "../../base/json/fields.ts";

/** The largest list index and the deepest path that a call may have; pieces beyond are left out. */
const MAX_INDEX = 10_000;
const MAX_DEPTH = 64;

/** Arguments of a call that come in pieces, each with the JSON path of its value. */
export interface PartialArguments {
  /** Adds a `functionCall`: usually all `args` in one piece, otherwise some `partialArgs`. */
  addCall(call: Fields): void;
  /** Returns the arguments so far, as JSON. */
  toJson(): string;
}

type Container = Record<string, unknown> | unknown[];

export function createPartialArguments(): PartialArguments {
  const root = createObject();
  return {
    addCall({ args, partialArgs }) {
      // biome-ignore lint/plugin: the root has no prototype.
      Object.assign(root, asFields(args));
      for (const piece of Array.isArray(partialArgs) ? partialArgs : [])
        addPiece(root, asFields(piece) ?? {});
    },
    toJson: () => JSON.stringify(root),
  };
}

/** Sets the value of a piece: `{jsonPath: "$.a.b[0]", stringValue | numberValue | boolValue | nullValue}`. */
function addPiece(root: Container, piece: Fields): void {
  const path = readPath(piece["jsonPath"]);
  const value = readValue(piece);
  if (path !== null && value !== undefined) setAt(root, path, value);
}

/** Without a prototype, every name is safe as a key. */
function createObject(): Record<string, unknown> {
  return Object.create(null);
}

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/y;

/** Parses a JSON path; null for one that does not lead to a value inside the arguments. */
function readPath(path: unknown): (string | number)[] | null {
  if (typeof path !== "string" || !path.startsWith("$")) return null;
  const steps: (string | number)[] = [];
  for (let at = 1; at < path.length; at = STEP.lastIndex) {
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    if (match === null || steps.length >= MAX_DEPTH) return null;
    const [, name, index, quoted, doubleQuoted] = match;
    if (index !== undefined && Number(index) > MAX_INDEX) return null;
    steps.push(index === undefined ? (name ?? quoted ?? doubleQuoted ?? "") : Number(index));
  }
  return steps.length > 0 && typeof steps[0] === "string" ? steps : null;
}

function readValue(piece: Fields): unknown {
  for (const key of ["stringValue", "numberValue", "boolValue"])
    if (piece[key] !== undefined) return piece[key];
  return "nullValue" in piece ? null : undefined;
}

/** Sets a value. A string is appended to a string that is already there. */
function setAt(root: Container, path: readonly (string | number)[], value: unknown): void {
  let at = root;
  for (const [depth, step] of path.slice(0, -1).entries()) {
    const next = readMember(at, step);
    const isList = typeof path[depth + 1] === "number";
    const inner = isContainer(next, isList) ? next : isList ? [] : createObject();
    if (inner !== next) writeMember(at, step, inner);
    at = inner;
  }
  const last = path[path.length - 1] as string | number;
  const before = readMember(at, last);
  writeMember(at, last, typeof before === "string" && typeof value === "string" ? before + value : value);
}

function isContainer(value: unknown, isList: boolean): value is Container {
  return isList ? Array.isArray(value) : asFields(value) !== null;
}

function readMember(container: Container, step: string | number): unknown {
  return Object.hasOwn(container, step) ? (container as Record<string | number, unknown>)[step] : undefined;
}

function writeMember(container: Container, step: string | number, value: unknown): void {
  // biome-ignore lint/plugin: the containers have no prototype.
  (container as Record<string | number, unknown>)[step] = value;
}
