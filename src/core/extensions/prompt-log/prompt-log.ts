import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import type { AdmittedGeneration, Extension, ExtensionPoints } from "../../generation/extension.ts";
import type { Vault } from "../../provider-keys/vault.ts";
import { BoundedText } from "../bounded-text.ts";
import { PendingWrites } from "../pending-writes.ts";
import type { PromptLogEntry, PromptLogStore } from "./prompt-log-store.ts";
import { type LoggedBodies, openEntry, type PromptLogIdentity, sealEntry } from "./seal-entry.ts";

/** How much of a request and of an answer is stored. Bytes. */
const MAX_LOGGED_BYTES = 1024 * 1024;
/** How many entries may wait for the store; further ones are dropped, with a warning. */
const MAX_PENDING = 64;
/** Entries that one statement deletes. */
const DELETED_AT_ONCE = 500;

/** What the prompt log works with. */
export interface PromptLogDeps {
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

  constructor(private readonly deps: PromptLogDeps) {
    this.pending = new PendingWrites(deps.log, "a prompt log entry was not stored");
  }

  attach({ id, call, zeroRetention }: AdmittedGeneration): ExtensionPoints | null {
    const { principal } = call;
    if (zeroRetention || principal.kind === "anonymous") return null;
    const { account, key } = principal;
    const { promptLog } = key;
    if (promptLog === null) return null;
    const request = new BoundedText(MAX_LOGGED_BYTES, call.takeMemory);
    const response = new BoundedText(MAX_LOGGED_BYTES, call.takeMemory);
    const { forwarded } = call.request;
    let wasAdmitted = false;
    return {
      async beforeRoute({ readBody }) {
        // Copied now: encoding for an upstream may overwrite the body.
        const body = readBody();
        request.append(forwarded?.isText.body === false ? describeBytes(body) : body);
        wasAdmitted = true;
        return { kind: "continue" };
      },
      onText: (delta) => {
        if (forwarded?.isText.answer !== false) response.append(delta);
      },
      onSettled: ({ createdAt, status }) => {
        // A guardrail does not allow the request: its text is not stored.
        if (!wasAdmitted) return;
        const expiresAt = createdAt + promptLog * 1_000;
        const identity = { id, accountId: account.id, keyId: key.id, createdAt, expiresAt };
        this.write(identity, {
          request: request.toString(),
          requestTruncated: request.isTruncated,
          response: status === 200 ? response.toString() : null,
          responseTruncated: response.isTruncated,
        });
      },
    };
  }

  /** Finds the bodies of a generation, also those that wait for the store. */
  async find(generationId: string): Promise<OpenedEntry | null> {
    await this.drain();
    return findPromptLogEntry(this.deps, generationId);
  }

  /** Returns whether the bodies of a generation are stored. */
  has(generationId: string): Promise<boolean> {
    return this.deps.store.hasEntry(generationId, this.deps.clock.now());
  }

  /** Deletes the entries that have expired. Rejects with a `StoreError`. */
  async deleteExpired(): Promise<void> {
    const { store, clock } = this.deps;
    const now = clock.now();
    while ((await store.deleteExpired(now, DELETED_AT_ONCE)) === DELETED_AT_ONCE);
  }

  /** Resolves when the entries that wait for the store are written or were dropped. */
  drain(): Promise<void> {
    return this.pending.drain();
  }

  private write(identity: PromptLogIdentity, bodies: LoggedBodies): void {
    if (this.pending.size >= MAX_PENDING)
      this.pending.warn(identity.id, "too many entries wait for the store");
    else this.pending.add(this.deps.store.addEntry(sealEntry(this.deps, identity, bodies)), identity.id);
  }
}

/** Stands for a body that is no text, such as a form with a recording. */
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
