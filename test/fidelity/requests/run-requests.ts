import { GatewayError } from "../../../src/base/failures/errors.ts";
import type { Fields } from "../../../src/base/json/fields.ts";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import type { Warning } from "../../../src/wire/conversation/warning.ts";
import { CLIENTS, type Client, FORMATS } from "../formats.ts";
import { openRequest } from "../open-request.ts";
import { holds } from "../probe.ts";
import { makeTarget } from "../targets.ts";
import { makeBody, type RequestCase } from "./request-case.ts";

/** The result of translating a feature from a client API to an upstream format. */
export type RequestVerdict =
  /** The feature is in the result. */
  | "kept"
  /** It was left out or changed, and a warning names it. */
  | "named"
  /** The request was rejected with an error that names it. */
  | "refused"
  /** The format does not need it, for a listed reason. */
  | "needless"
  | "LOST";

/** The result of one case for one client API and one upstream format. */
export interface RequestRun {
  readonly client: Client;
  readonly format: FormatName;
  readonly verdict: RequestVerdict;
  readonly sent: Sent;
}

/** The request that was sent, or the message of the rejection. */
export type Sent =
  | { readonly body: Fields; readonly warnings: readonly Warning[] }
  | { readonly refusal: string };

/** Runs a case for all pairs of client API and upstream format. */
export function runRequest(one: RequestCase): RequestRun[] {
  return CLIENTS.flatMap((client) => {
    const fields = one.bodies[client];
    if (fields === undefined) return [];
    return FORMATS.map((format) => {
      const sent = send(client, makeBody(client, fields), format);
      return { client, format, verdict: classify(one, format, sent), sent };
    });
  });
}

function send(client: Client, body: Fields, format: FormatName): Sent {
  try {
    const encoded = openRequest(client, body).encoding.encode(makeTarget(format));
    return { body: JSON.parse(encoded.body.toString("utf8")), warnings: encoded.warnings };
  } catch (error) {
    if (error instanceof GatewayError) return { refusal: error.message };
    throw error;
  }
}

function classify(one: RequestCase, format: FormatName, sent: Sent): RequestVerdict {
  if ("refusal" in sent) return one.field.test(sent.refusal) ? "refused" : "LOST";
  const kept = one.kept[format] ?? [];
  const forms = Array.isArray(kept) ? kept : [kept];
  if (forms.some((form) => holds(sent.body, form))) return "kept";
  const isNamed = sent.warnings.some(({ field, message }) => one.field.test(`${field}: ${message}`));
  if (isNamed) return "named";
  return one.needless?.[format] === undefined ? "LOST" : "needless";
}
