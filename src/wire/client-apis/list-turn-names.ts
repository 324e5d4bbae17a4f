import { type CalledTurn, MAX_RECALLED, nameText } from "../canonical/called-turn.ts";
import { sizeOf } from "../conversation/prompt-nodes.ts";
import type { ScannedRequest } from "../conversation/scanned-request.ts";
import { ownText } from "../json/own-text.ts";
import { type JsonNode, tryStringOf } from "../json/scan.ts";
import type { UpstreamTarget } from "./inference-request.ts";

/**
 * Lists the names of stored turns that a translation of the request for one of the targets may look up. `calls` are its
 * `listRecalledCalls`.
 */
export function listTurnNames(
  scanned: ScannedRequest,
  targets: readonly UpstreamTarget[],
  calls: Iterable<string>,
): readonly string[] {
  const signsTexts = targets.some(({ provider }) => provider.format === "gemini");
  return [...calls, ...(signsTexts ? listRecalledTexts(scanned) : [])];
}

/** Returns the stored turns of a request by their names. Names without a stored turn are absent. */
export function recallTurns(
  scanned: ScannedRequest,
  targets: readonly UpstreamTarget[],
): ReadonlyMap<string, CalledTurn> {
  const turns = new Map<string, CalledTurn>();
  const [first] = targets;
  for (const name of listTurnNames(scanned, targets, listRecalledCalls(scanned))) {
    const turn = first?.recallTurn(name) ?? null;
    if (turn !== null) turns.set(name, turn);
  }
  return turns;
}

/** Lists the first calls of the last turns, under which turns are stored (see `restoreTurns`). */
export function listRecalledCalls(scanned: ScannedRequest): ReadonlySet<string> {
  if (scanned.outline.listFirstCalls !== undefined)
    return new Set(scanned.outline.listFirstCalls(MAX_RECALLED));
  const outline = scanned.outline.read();
  const callIds = new Set<string>();
  for (let at = outline.length - 1; at >= 0 && callIds.size < MAX_RECALLED; at--) {
    const message = outline[at];
    // The turns that are found under them are kept until the answer.
    if (message?.kind === "assistant" && message.callIds[0]) callIds.add(ownText(message.callIds[0]));
  }
  return callIds;
}

/** Lists the keys under which the last texts are stored; computing a key reads the whole text. */
function listRecalledTexts({ text, prompt: { texts } }: ScannedRequest): readonly string[] {
  const names: string[] = [];
  let left = MAX_RECALLED_BYTES;
  for (let at = texts.length - 1; at >= 0 && names.length < MAX_RECALLED; at--) {
    const node = texts[at] as JsonNode;
    left -= sizeOf(node);
    if (left < 0) break;
    const value = tryStringOf(text, node);
    if (value) names.push(nameText(value));
  }
  return names;
}

/** The maximum size of the texts that are hashed for one request. */
const MAX_RECALLED_BYTES = 2 * 1024 * 1024;
