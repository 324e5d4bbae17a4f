import { GatewayError } from "../../../src/base/errors.ts";
import type { FormatName } from "../../../src/wire/conversation/format-name.ts";
import type { Warning } from "../../../src/wire/conversation/warning.ts";
import type { Fields } from "../../../src/wire/json/fields.ts";
import { CLIENTS, type Client, FORMATS } from "../formats.ts";
import { openRequest } from "../open-request.ts";
import { holds } from "../probe.ts";
import { makeTarget } from "../targets.ts";
import { makeBody, type RequestCase } from "./request-case.ts";

/** What became of a feature between a client API and an upstream's format. */
export type RequestVerdict =
  /** It is there. */
  | "kept"
  /** It was left out or sent otherwise, and a warning names it. */
  | "named"
  /** The request is refused with a message that names it. */
  | "refused"
  /** The format has no such thing and misses nothing. */
  | "needless"
  | "LOST";

/** One case between one client API and one upstream's format. */
export interface RequestRun {
  readonly client: Client;
  readonly format: FormatName;
  readonly verdict: RequestVerdict;
  readonly sent: Sent;
}

/** What went out, or the refusal. */
export type Sent =
  | { readonly body: Fields; readonly warnings: readonly Warning[] }
  | { readonly refusal: string };

/** A case in all its pairs. */
export function runRequest(one: RequestCase): RequestRun[] {
  return CLIENTS.flatMap((client) => {
    const fields = one.says[client];
    if (fields === undefined) return [];
    return FORMATS.map((format) => {
      const sent = send(client, makeBody(client, fields), format);
      return { client, format, verdict: judge(one, format, sent), sent };
    });
  });
}

function send(client: Client, body: Fields, format: FormatName): Sent {
  try {
    const encoded = openRequest(client, body).encode(makeTarget(format));
    return { body: JSON.parse(encoded.body.toString("utf8")), warnings: encoded.warnings };
  } catch (error) {
    if (error instanceof GatewayError) return { refusal: error.message };
    throw error;
  }
}

function judge(one: RequestCase, format: FormatName, sent: Sent): RequestVerdict {
  if ("refusal" in sent) return one.field.test(sent.refusal) ? "refused" : "LOST";
  const kept = one.kept[format] ?? [];
  const forms = Array.isArray(kept) ? kept : [kept];
  if (forms.some((form) => holds(sent.body, form))) return "kept";
  const isNamed = sent.warnings.some(({ field, message }) => one.field.test(`${field}: ${message}`));
  if (isNamed) return "named";
  return one.needless?.[format] === undefined ? "LOST" : "needless";
}
