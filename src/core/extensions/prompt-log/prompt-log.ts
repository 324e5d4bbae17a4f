import type { Log } from "../../../base/failures/log.ts";
import type { Random } from "../../../base/secrets/random.ts";
import type { Clock, Timer } from "../../../base/time/clock.ts";
import { nextTurn } from "../../../base/time/next-turn.ts";
import { promptLogOf } from "../../accounts/records/key-defaults.ts";
import type { AccountPrincipal } from "../../accounts/records/principal.ts";
import type { AdmittedGeneration, Extension, ExtensionPoints } from "../../generation/call/extension.ts";
import type { Vault } from "../../provider-keys/vault.ts";
import { BoundedText } from "../bounded-text.ts";
import { PendingWrites } from "../pending-writes.ts";
import type { PromptLogEntry, PromptLogStore } from "./prompt-log-store.ts";
import { type LoggedBodies, openEntry, type PlainEntry, sealEntries } from "./seal-entry.ts";

/** How much of a request and of an answer is stored. Bytes. */
const MAX_LOGGED_BYTES = 1024 * 1024;
/** How many entries may wait for the store; further ones are dropped, with a warning. */
const MAX_PENDING = 64;
/**
 * Entries are written in groups, because a transaction costs several times as much as an entry. A group is written when it has this many
 * entries, or bodies of this many characters, or after this time.
 */
const GROUP = { entries: 16, chars: 1024 * 1024, ms: 50 } as const;
/** The number of entries that one statement deletes: few, because each may be megabytes, and other work waits. */
const DELETED_AT_ONCE = 50;

/** The dependencies of the prompt log. */
interface PromptLogDeps {
  readonly store: PromptLogStore;
  readonly vault: Vault;
  readonly random: Random;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}

/** An entry whose bodies were decrypted. */
export interface OpenedEntry extends Omit<PromptLogEntry, "sealed" | "ciphertext"> {
  readonly bodies: LoggedBodies;
}

/**
 * Stores the bodies of requests and answers for API keys that ask for it (`promptLog`), encrypted, until they expire.
 * Requests under zero data retention are never stored (docs/prompt-log.md).
 */
export class PromptLog implements Extension {
  readonly name = "prompt-log";
  private readonly pending: PendingWrites;
  /** The next group. */
  private gathered: PlainEntry[] = [];
  private gatheredChars = 0;
  private timer: Timer | null = null;
  /** The entries whose group is being written. */
  private writing = 0;

  constructor(private readonly deps: PromptLogDeps) {
    this.pending = new PendingWrites(deps.log, "a prompt log entry was not stored");
  }

  attach(generation: AdmittedGeneration): ExtensionPoints | null {
    const { principal } = generation.call;
    if (generation.zeroRetention || principal.kind === "anonymous") return null;
    const promptLog = promptLogOf(principal);
    return promptLog === null ? null : this.record(generation, principal, promptLog);
  }

  private record(
    { id, call }: AdmittedGeneration,
    { account, key }: AccountPrincipal,
    promptLog: number,
  ): ExtensionPoints {
    const request = new BoundedText(MAX_LOGGED_BYTES, call);
    const response = new BoundedText(MAX_LOGGED_BYTES, call);
    const { isText } = call.request;
    let wasAdmitted = false;
    return {
      async beforeRoute({ readBody }) {
        // Copied now: encoding for an upstream may overwrite the body.
        const body = readBody();
        request.append(isText.body ? body : describeBytes(body));
        wasAdmitted = true;
        return { kind: "continue" };
      },
      onText: (delta) => {
        if (isText.answer) response.append(delta);
      },
      onSettled: ({ createdAt, status }) => {
        // A guardrail does not allow the request: its text is not stored.
        if (!wasAdmitted) return;
        const expiresAt = createdAt + promptLog * 1_000;
        const identity = { id, accountId: account.id, keyId: key.id, createdAt, expiresAt };
        const bodies = {
          request: request.toString(),
          requestTruncated: request.isTruncated,
          response: status === 200 ? response.toString() : null,
          responseTruncated: response.isTruncated,
        };
        this.gather({ identity, bodies });
      },
    };
  }

  /** Finds the bodies of a generation, including those that are not stored yet. */
  async find(generationId: string): Promise<OpenedEntry | null> {
    await this.drain();
    return findPromptLogEntry(this.deps, generationId);
  }

  /** Returns whether the bodies of a generation are stored, or wait for the store. */
  async has(generationId: string): Promise<boolean> {
    await this.drain();
    return this.deps.store.hasEntry(generationId, this.deps.clock.now());
  }

  /** Deletes the entries that have expired. Rejects with a `StoreError`. */
  async deleteExpired(): Promise<void> {
    const { store, clock } = this.deps;
    const now = clock.now();
    while ((await store.deleteExpired(now, DELETED_AT_ONCE)) === DELETED_AT_ONCE) await nextTurn();
  }

  /** Resolves when the entries that wait for the store are written or were dropped. */
  drain(): Promise<void> {
    this.writeGroup();
    return this.pending.drain();
  }

  private gather(entry: PlainEntry): void {
    const { identity, bodies } = entry;
    if (this.gathered.length + this.writing >= MAX_PENDING) {
      this.pending.warn(identity.id, "too many entries wait for the store");
      return;
    }
    this.gathered.push(entry);
    this.gatheredChars += bodies.request.length + (bodies.response?.length ?? 0);
    if (this.gathered.length >= GROUP.entries || this.gatheredChars >= GROUP.chars) this.writeGroup();
    else this.timer ??= this.deps.clock.after(GROUP.ms, () => this.writeGroup());
  }

  private writeGroup(): void {
    this.timer?.cancel();
    this.timer = null;
    const group = this.gathered.splice(0);
    this.gatheredChars = 0;
    if (group.length > 0) this.pending.add(this.write(group), ...group.map(({ identity }) => identity.id));
  }

  private async write(group: readonly PlainEntry[]): Promise<void> {
    this.writing += group.length;
    try {
      await this.deps.store.addEntries(sealEntries(this.deps, group));
    } finally {
      this.writing -= group.length;
    }
  }
}

/** Replaces a body that is not text, such as a form with a recording. */
function describeBytes(body: Uint8Array): Buffer {
  return Buffer.from(`(${body.length} bytes that are not text)`);
}

/** Returns the bodies of a generation; null if there is no entry, it has expired, or its master key is not known. */
export async function findPromptLogEntry(
  { store, vault, clock }: Pick<PromptLogDeps, "store" | "vault" | "clock">,
  generationId: string,
): Promise<OpenedEntry | null> {
  const entry = await store.findEntry(generationId, clock.now());
  const bodies = entry === null ? null : openEntry(vault, entry);
  if (entry === null || bodies === null) return null;
  const { sealed: _sealed, ciphertext: _ciphertext, ...identity } = entry;
  return { ...identity, bodies };
}
