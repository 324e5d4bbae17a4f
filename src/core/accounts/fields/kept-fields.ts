import { z } from "zod";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { TAG, TAG_RULE } from "../../../wire/client-apis/request/request-tags.ts";
import { secondsFormat, TAGS_FORMAT } from "./field-option.ts";
import { settableField } from "./resource-fields.ts";

/** The longest time for which bodies and answers may be kept. Seconds. */
const MAX_SECONDS = 30 * 86_400;

/** How long something of a key's requests is kept; 0 means never, null means as long as the level above says. */
function secondsField(description: string, flag: string, help: string) {
  return settableField(
    { view: z.int().nullable(), input: z.int().min(0).max(MAX_SECONDS).nullable() },
    description,
    { flags: `--${flag} <seconds>`, help, none: "the default", ...secondsFormat(MAX_SECONDS) },
  );
}

/** Returns the field for stored bodies. `rest` says whose they are, and what null means. */
export function promptLogField(rest: string) {
  return secondsField(
    `Seconds for which the bodies of requests and responses are stored, encrypted, ${rest} \`0\`: never. Requests under zero data retention are never stored.`,
    "prompt-log",
    "Seconds for which request and response bodies are stored",
  );
}

/** Returns the field for cached answers. `rest` says whose they are, and what null means. */
export function cacheField(rest: string) {
  return secondsField(
    `Seconds for which answers are cached, ${rest} \`0\`: never. A request that is byte for byte equal to an earlier one of the same key gets its answer, at no cost. Requests under zero data retention are never cached.`,
    "cache",
    "Seconds for which an answer is returned again for equal requests",
  );
}

const TagsInput = z
  .array(z.string().max(BOUNDS.tagChars, TAG_RULE).regex(TAG, TAG_RULE))
  .max(BOUNDS.defaultTags)
  .nullable();

/** Returns the field for tags that requests get in addition to their own. */
export function tagsField(description: string) {
  return settableField({ view: z.array(z.string()).nullable(), input: TagsInput }, description, {
    flags: "--tags <tags>",
    help: "Tags of all requests, comma-separated",
    none: "none",
    ...TAGS_FORMAT,
  });
}
