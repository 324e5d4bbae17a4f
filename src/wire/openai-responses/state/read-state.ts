import { rejectField } from "../../../base/failures/errors.ts";
import { asFields, asText } from "../../../base/json/fields.ts";
import { isTrue, isWord, type JsonNode, parseMember, stringOf } from "../../../base/json/scan.ts";
import { isAbsent } from "../../conversation/check-nodes.ts";
import { hasTrigger } from "../compaction-items.ts";
import type { ResponsesBody } from "../request-shape.ts";
import { OWN_COMPACTION } from "./compaction.ts";

/** What a request asks of responses that the gateway keeps. */
export interface AskedState {
  /** Whether the response is to be kept; null if the request does not say. */
  readonly store: boolean | null;
  /** The response to continue; null for none. */
  readonly previousId: string | null;
  /** The conversation to continue; null for none. */
  readonly conversationId: string | null;
  /** The response is made without its client waiting for it. */
  readonly isBackground: boolean;
  /** The ids of earlier items that the input refers to, in its order. */
  readonly references: readonly string[];
  /** It asks for a compaction of its input in place of an answer. */
  readonly compacts: boolean;
  /** The encrypted contents of the gateway's own compactions in the input, in its order. */
  readonly compactions: readonly string[];
}

/** The fields about state, which the gateway itself answers for: no vendor gets them as they are. */
export const STATE_FIELDS: ReadonlySet<string> = new Set([
  "store",
  "previous_response_id",
  "conversation",
  "background",
]);

/** Whether a request neither continues a response nor asks that its own is kept. */
export function isStateless(asked: AskedState): boolean {
  const { store, previousId, conversationId, isBackground, references, compactions, compacts } = asked;
  const continues = previousId !== null || conversationId !== null || references.length > 0;
  return !(continues || isBackground || store === true || compacts || compactions.length > 0);
}

/**
 * Reads what a request asks of kept responses. `text` is its body, bytes as Latin-1.
 * @throws GatewayError `invalid_request` for a field of another type, or two that exclude each other.
 */
export function readAskedState(text: string, root: ResponsesBody): AskedState {
  const { store, background } = root.fields;
  requireBoolean(store, "store");
  requireBoolean(background, "background");
  const previousId = readPreviousId(text, root);
  const conversationId = readConversationId(text, root);
  const isBackground = isTrue(text, background);
  const { references, compactions } = readItems(text, root);
  const asked: AskedState = {
    store: isAbsent(store) ? null : isTrue(text, store),
    previousId,
    conversationId,
    isBackground,
    references,
    compacts: hasTrigger(text, root),
    compactions,
  };
  if (previousId !== null && conversationId !== null)
    rejectField("previous_response_id", "must not be sent together with conversation: send one of them");
  if (isBackground && asked.store === false)
    rejectField("background", "must be false or left out if store is false: it is fetched later");
  return asked;
}

/** Whether a request adds nothing to the conversation that it continues. */
export function isWithoutInput({ fields }: ResponsesBody): boolean {
  return isAbsent(fields.input) && !(isAbsent(fields.previous_response_id) && isAbsent(fields.conversation));
}

function requireBoolean(node: JsonNode | undefined, field: string): void {
  if (!isAbsent(node) && node.kind !== "boolean") rejectField(field, "must be true or false");
}

function readPreviousId(text: string, root: ResponsesBody): string | null {
  const node = root.fields.previous_response_id;
  if (isAbsent(node)) return null;
  return (
    stringOf(text, node) ??
    rejectField("previous_response_id", "must be the id of a response, a string such as gen_01jd…")
  );
}

/** A conversation is named by its id, or by an object with it. */
function readConversationId(text: string, root: ResponsesBody): string | null {
  const node = root.fields.conversation;
  if (isAbsent(node)) return null;
  const value = parseMember(text, root, "conversation");
  return (
    asText(value) ??
    asText(asFields(value)?.["id"]) ??
    rejectField("conversation", 'must be the id of a conversation, or {"id": "conv_…"}')
  );
}

/** Finds the references and own compactions in an input. Most have none. */
function readItems(text: string, root: ResponsesBody): Pick<AskedState, "references" | "compactions"> {
  let references: string[] | null = null;
  let compactions: string[] | null = null;
  for (const { fields } of root.fields.input?.items ?? []) {
    if (isWord(text, fields.type, "item_reference")) {
      const id = stringOf(text, fields.id);
      if (id !== undefined) references = [...(references ?? []), id];
    } else if (isWord(text, fields.type, "compaction")) {
      const content = stringOf(text, fields.encrypted_content) ?? "";
      if (content.startsWith(OWN_COMPACTION)) compactions = [...(compactions ?? []), content];
    }
  }
  return { references: references ?? NONE, compactions: compactions ?? NONE };
}

const NONE: readonly string[] = [];
