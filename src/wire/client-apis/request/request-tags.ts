import { rejectField } from "../../../base/failures/errors.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";

/** The header with the tags of a request, separated by commas. */
export const TAGS_HEADER = "x-gateway-tags";

const NO_TAGS: readonly string[] = [];

/** Begins with a letter or digit: no tag is a formula in a spreadsheet, or the name that reports give to further tags. */
export const TAG = /^[A-Za-z0-9](?:[\w .:/@=+-]*[\w.:/@=+-])?$/;

/** What a tag must be, for messages. */
export const TAG_RULE = `must be a text of 1 to ${BOUNDS.tagChars} characters: letters and digits (ASCII), spaces between them, and . _ : / @ = + - after the first one`;

/**
 * Returns the tags of a request: those of the header, then those of the body, each once. `body` is the field `tags`, undefined or null
 * where absent.
 * @throws GatewayError `invalid_request` that names the field or the header.
 */
export function readTags(body: unknown, headers: Pick<Headers, "get">): readonly string[] {
  const header = headers.get(TAGS_HEADER);
  if (header === null && (body === undefined || body === null)) return NO_TAGS;
  const tags = new Set([...readHeader(header ?? ""), ...readBody(body ?? [])]);
  if (tags.size > BOUNDS.requestTags) rejectCount(header === null ? "tags" : TAGS_HEADER);
  return [...tags];
}

function rejectCount(field: string): never {
  return rejectField(
    field,
    `must leave a request with at most ${BOUNDS.requestTags} tags, header and body together`,
  );
}

function readHeader(header: string): readonly string[] {
  return header
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "")
    .map((tag) => readTag(tag, TAGS_HEADER));
}

function readBody(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return rejectField("tags", 'must be an array of strings such as ["team-a"]');
  if (value.length > BOUNDS.requestTags) return rejectCount("tags");
  return value.map((tag, at) => readTag(tag, `tags[${at}]`));
}

function readTag(value: unknown, field: string): string {
  const isTag = typeof value === "string" && value.length <= BOUNDS.tagChars && TAG.test(value);
  return isTag ? value : rejectField(field, TAG_RULE);
}
