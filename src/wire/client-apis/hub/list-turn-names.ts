import { tryStringOf } from "../../../base/json/scan.ts";
import type { CalledTurn } from "../../canonical/answer/called-turn.ts";
import type { EmptyTurn, RestoredTurn } from "../../canonical/fit/restore-turns.ts";
import type { Signature } from "../../canonical/model/parts.ts";
import { sizeOf } from "../../conversation/prompt-nodes.ts";
import {
  identifyText,
  MAX_RECALLED,
  type SentConversation,
  type SentTurn,
} from "../../conversation/sent-turns.ts";
import { FORMAT_TRAITS } from "../../formats/traits.ts";
import type { UpstreamTarget } from "../request/inference-request.ts";

/** Returns the name under which a turn is stored: what came before it, and which call or text it made there. */
export function nameTurn(prefix: string, key: string): string {
  return `${prefix}.${key}`;
}

type Recall = (name: string) => CalledTurn | null;

/** A conversation's turns by the names under which they may be stored. */
export class NamedTurns {
  private texts: readonly (readonly string[])[] | null = null;
  private names: readonly string[] | null = null;

  constructor(
    private readonly conversation: SentConversation,
    /** The body, as Latin-1. */
    private readonly text: string,
  ) {}

  /** Lists the names that a translation of the request for one of the targets may look up. */
  list(targets: readonly UpstreamTarget[]): readonly string[] {
    this.names ??= this.conversation.turns.flatMap(nameFirstCall);
    return targets.some(signsTexts) ? [...this.names, ...this.nameTexts().flat()] : this.names;
  }

  /** Returns what is restored for a target in each turn, the last one first; none if nothing is. */
  restore(target: UpstreamTarget): readonly (RestoredTurn | EmptyTurn)[] {
    const recall: Recall = (name) => target.recallTurn(name);
    if (!this.list([target]).some((name) => recall(name) !== null)) return NONE;
    const texts = signsTexts(target) ? this.nameTexts() : NONE;
    return this.conversation.turns.map((turn, at) => restoreTurn(turn, texts[at] ?? NONE, recall));
  }

  /** Returns the names of each turn's texts, from the last turn on; computing one reads the whole text. */
  private nameTexts(): readonly (readonly string[])[] {
    this.texts ??= this.readTexts();
    return this.texts;
  }

  private readTexts(): readonly (readonly string[])[] {
    const names: string[][] = [];
    let left = MAX_RECALLED_BYTES;
    let count = 0;
    for (const { prefix, texts } of this.conversation.turns) {
      for (const node of texts) left -= sizeOf(node);
      count += texts.length;
      if (left < 0 || count > MAX_RECALLED) break;
      names.push(texts.map((node) => nameTurn(prefix, identifyText(tryStringOf(this.text, node) ?? ""))));
    }
    return names;
  }
}

const NONE: readonly never[] = [];

/** The maximum size of the texts that are hashed for one request. */
const MAX_RECALLED_BYTES = 2 * 1024 * 1024;

function signsTexts({ provider }: UpstreamTarget): boolean {
  return FORMAT_TRAITS[provider.format].contents.signsTexts === true;
}

function nameFirstCall({ prefix, calls: [first] }: SentTurn): readonly string[] {
  return first === undefined ? NONE : [nameTurn(prefix, first.key)];
}

function restoreTurn(
  { prefix, calls }: SentTurn,
  textNames: readonly string[],
  recall: Recall,
): RestoredTurn | EmptyTurn {
  const [first] = calls;
  const callId = first?.id ?? null;
  const made = first === undefined ? null : recall(nameTurn(prefix, first.key));
  const texts = textNames.map((name) => signatureOf(recall(name)));
  if (made === null && texts.every((signature) => signature === undefined)) return { callId };
  const signatures = new Map<string, Signature>();
  for (const { id, key } of made === null ? NONE : calls) {
    const signature = made?.signatures[key];
    if (signature !== undefined) signatures.set(id, signature);
  }
  return { callId, reasoning: made?.reasoning ?? NONE, signatures, texts };
}

function signatureOf(turn: CalledTurn | null): Signature | undefined {
  return turn === null ? undefined : turn.signatures[turn.keys[0] ?? ""];
}
