import { allBut } from "../../base/collections/name-sets.ts";
import { fail } from "../../base/failures/errors.ts";
import { parseFields, requireText } from "../../base/json/check-fields.ts";
import type { Fields } from "../../base/json/fields.ts";
import { requireBodyBytes } from "../../base/json/reject-excess.ts";
import { allFields, type JsonNode, memberOf } from "../../base/json/scan.ts";
import { scanBody } from "../../base/json/scan-body.ts";
import {
  appendMember,
  applySplices,
  changeTexts,
  LEFT_OUT_NOTHING,
  removeMembers,
  type Splice,
} from "../../base/json/splice.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { GATEWAY_FIELDS } from "../conversation/gateway-fields.ts";
import { type RoutingParameters, readRoutingParameters } from "../conversation/preferences.ts";
import { USER_FIELDS } from "../conversation/user-fields.ts";
import type { ForwardedEncoding, ForwardingTarget } from "./forwarded-request.ts";

/** A JSON body that is forwarded: its bytes are unchanged, and the nodes say where its members stand. */
interface JsonBody extends RoutingParameters {
  readonly bytes: Buffer;
  /** The same bytes as a Latin-1 string. */
  readonly text: string;
  readonly root: JsonNode;
  readonly fields: Fields;
  readonly model: string;
}

const SHAPE = allFields({});

/** How `model` is read. */
interface ModelField {
  /** An id for the error message. */
  readonly example: string;
  /** The model of a request without `model`; null if `model` is required. */
  readonly usual: string | null;
}

/**
 * Scans a JSON body and reads its model and the fields that address the gateway. Null counts as absent, unknown fields are kept.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed model id.
 */
export function readJsonBody(bytes: Buffer, { example, usual }: ModelField): JsonBody {
  requireBodyBytes(bytes, BOUNDS.forwardedBodyBytes, "Send less in one request.");
  return scanBody(bytes, SHAPE, (text, { root }) => {
    const fields = parseFields(bytes.toString("utf8"), text);
    const isAbsent = (fields["model"] ?? null) === null;
    const model =
      isAbsent && usual !== null ? usual : requireText(fields, "model", `a string such as "${example}"`);
    if (model.length > BOUNDS.modelIdChars) fail("invalid_model", "model is too long to be a model id.");
    const { models, provider, preset } = fields;
    return { bytes, text, root, fields, model, ...readRoutingParameters({ models, provider, preset }) };
  });
}

/** Returns the client's bytes with the provider's model name, without fields for the gateway, and with hashes of users. */
export function encodeJsonBody({ bytes, text, root }: JsonBody, target: ForwardingTarget): ForwardedEncoding {
  const { knownFields, refusedFields, storingFields, model, hashUser, costly = LEFT_OUT_NOTHING } = target;
  const leftOut = [...USER_FIELDS, ...storingFields].filter(
    (field) =>
      memberOf(root, field) !== undefined && (refusedFields.has(field) || knownFields?.has(field) === false),
  );
  const removed = new Set([...GATEWAY_FIELDS, ...leftOut, ...costly.removed]);
  const splices: Splice[] = [setModel(root, model), ...costly.splices];
  splices.push(...changeTexts(text, root, allBut(USER_FIELDS, removed), hashUser));
  splices.push(...removeMembers(text, root, removed));
  return { body: applySplices(bytes, splices), leftOut };
}

function setModel(root: JsonNode, model: string): Splice {
  const node = memberOf(root, "model");
  const insert = JSON.stringify(model);
  return node === undefined
    ? appendMember(root, "model", insert)
    : { start: node.start, end: node.end, insert };
}
