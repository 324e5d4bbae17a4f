import { fail, rejectField } from "../../base/failures/errors.ts";
import { type JsonKind, type JsonNode, NO_NODES, type NodeIn, numberOf } from "../../base/json/scan.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";

/** Checks of the fields of a scanned request that all client formats share. They reject with `invalid_request`. */

/** Checks the value of a field. `text` is the body, bytes as Latin-1; `field` its name in error messages. */
type NodeCheck<N extends JsonNode = JsonNode> = (text: string, node: N, field: string) => void;

/** The checks of a body's fields by their names. Each gets the node that the body's shape has for it. */
type NodeChecks<Body extends JsonNode> = {
  readonly [K in keyof Body["fields"]]?: NodeCheck<NodeIn<Body, K>>;
};

/** Accepts a number from `low` to `high`. */
export function numberFrom(low: number, high: number): NodeCheck {
  return (text, node, field) => {
    const value = numberOf(text, node);
    if (value === null || value < low || value > high) {
      rejectField(field, `must be a number from ${low} to ${high}`);
    }
  };
}

/** Accepts a whole number of at least `least`. */
export function wholeNumberFrom(least: number): NodeCheck {
  return (text, node, field) => {
    const value = numberOf(text, node);
    if (value === null || !Number.isInteger(value) || value < least) {
      rejectField(field, `must be a whole number of at least ${least}`);
    }
  };
}

/** Accepts a value of this kind; `wanted` names it in the error message. */
export function ofKind(kind: JsonKind, wanted: string): NodeCheck {
  return (_text, node, field) => {
    if (node.kind !== kind) rejectField(field, `must be ${wanted}`);
  };
}

/** Returns a function that runs these checks on the fields of a body that are present and not null. */
export function nodeChecker<Body extends JsonNode>(
  checks: NodeChecks<Body>,
): (text: string, root: Body) => void {
  // A check is only called with the member of its name.
  const byName = new Map(Object.entries(checks) as [string, NodeCheck][]);
  return (text, root) => {
    for (const member of root.members ?? NO_NODES)
      if (member.kind !== "null") byName.get(member.key)?.(text, member, member.key);
  };
}

/**
 * Checks the `model` of a request; `example` is a model id for the error message.
 * @throws GatewayError `invalid_request`; `invalid_model` for a name that is too long to be an id.
 */
export function checkModel(model: JsonNode | undefined, example: string): void {
  if (model?.kind !== "string") rejectField("model", `is required: a string such as "${example}"`);
  if (model.end - model.start > BOUNDS.modelIdChars) {
    fail("invalid_model", "model is too long to be a model id. GET /api/gateway/models lists them.");
  }
}

/** Whether a field is absent or null, which are equivalent. */
export function isAbsent(node: JsonNode | undefined): node is undefined {
  return node === undefined || node.kind === "null";
}

/** Whether a field is present, not null, and not of this kind. */
export function isOtherKind(node: JsonNode | undefined, kind: JsonKind): boolean {
  return !isAbsent(node) && node.kind !== kind;
}
