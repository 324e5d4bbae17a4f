import { parseBody } from "../../../base/json/check-fields.ts";
import { allFields, decodeUtf8, items, LEAF, scanJson, sliceOf } from "../../../base/json/scan.ts";
import { rejectInvalidJson, requireUtf8 } from "../../../base/json/scan-body.ts";
import { applySplices, type Splice, setMember } from "../../../base/json/splice.ts";
import { TRIGGER } from "../compaction-items.ts";

const BODY = allFields({ input: items(LEAF) });
const ASKED = `{"type":"${TRIGGER}"}`;

/**
 * Returns the body of `POST /responses` that a body of `POST /responses/compact` stands for: it asks for a compaction at the end of its input.
 * @throws GatewayError `invalid_request` if it is not JSON in UTF-8.
 */
export function askForCompaction(bytes: Buffer): Buffer {
  requireUtf8(bytes);
  const text = bytes.toString("latin1");
  const root = rejectInvalidJson(() => scanJson(text, BODY));
  // What is no object is rejected when it is parsed as a request.
  if (root.kind !== "object" || (root.members ?? []).length === 0) return bytes;
  const { input } = root.fields;
  const splices: Splice[] = [setMember(root, "stream", "false"), setMember(root, "store", "false")];
  const last = input?.items?.at(-1);
  if (last !== undefined) splices.push({ start: last.end, end: last.end, insert: `,${ASKED}` });
  else if (input?.kind === "string") {
    const content = decodeUtf8(sliceOf(text, input));
    splices.push(
      setMember(root, "input", `[{"type":"message","role":"user","content":${content}},${ASKED}]`),
    );
  } else splices.push(setMember(root, "input", `[${ASKED}]`));
  return applySplices(bytes, splices);
}

/** Returns the answer of `POST /responses/compact` to a response. */
export function presentCompaction(answer: Buffer): Buffer {
  const { id, created_at, output, usage } = parseBody(answer);
  return Buffer.from(JSON.stringify({ id, object: "response.compaction", created_at, output, usage }));
}
