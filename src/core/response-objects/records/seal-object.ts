import type { Random } from "../../../base/secrets/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../../base/secrets/seal.ts";
import type { SealedSecret } from "../../provider-keys/records.ts";
import type { Vault } from "../../provider-keys/vault.ts";
import type { Handovers, ObjectContent } from "./response-object.ts";

/** The record that a ciphertext belongs to. It cannot be decrypted under another id or account. */
export interface SealedOwner {
  readonly id: string;
  readonly accountId: string;
}

const DATA_KEY_BYTES = 32;

/**
 * Encrypts the contents of one record under a data key of its own, which the vault seals under the newest master key. A rotation of the
 * master key reseals only data keys.
 */
export class ObjectSeal {
  private constructor(
    private readonly random: Random,
    private readonly dataKey: Buffer,
    readonly sealed: SealedSecret,
    private readonly owner: SealedOwner,
  ) {}

  /** Makes the data key of a new record. */
  static create(vault: Vault, random: Random, owner: SealedOwner): ObjectSeal {
    const dataKey = Buffer.from(random.bytes(DATA_KEY_BYTES));
    return new ObjectSeal(random, dataKey, vault.seal(dataKey.toString("base64"), owner), owner);
  }

  /** Opens the data key of a stored record; null if its master key is not known. */
  static open(
    vault: Vault,
    random: Random,
    record: SealedOwner & { readonly sealed: SealedSecret },
  ): ObjectSeal | null {
    const { id, accountId, sealed } = record;
    const dataKey = vault.open(sealed, record);
    if (dataKey === null) return null;
    return new ObjectSeal(random, Buffer.from(dataKey, "base64"), sealed, { id, accountId });
  }

  sealText(text: string): Uint8Array {
    return this.sealBytes(Buffer.from(text));
  }

  /** @throws Error if the ciphertext was changed, or is of another record. */
  openText(ciphertext: Uint8Array): string {
    return this.openBytes(ciphertext).toString("utf8");
  }

  /** Seals bytes as Latin-1. */
  sealLatin1(text: string): Uint8Array {
    return this.sealBytes(Buffer.from(text, "latin1"));
  }

  /** @throws Error as `openText`. */
  openLatin1(ciphertext: Uint8Array): string {
    return this.openBytes(ciphertext).toString("latin1");
  }

  sealContent(content: ObjectContent): Uint8Array {
    return this.sealBytes(encodeContent(content));
  }

  /** @throws Error as `openText`. */
  openContent(ciphertext: Uint8Array): ObjectContent {
    return decodeContent(this.openBytes(ciphertext));
  }

  private sealBytes(text: Uint8Array): Uint8Array {
    const nonce = Buffer.from(this.random.bytes(NONCE_BYTES));
    return sealBytes(this.dataKey, nonce, text, this.binding);
  }

  private openBytes(ciphertext: Uint8Array): Buffer {
    return openSealed(this.dataKey, ciphertext, this.binding);
  }

  private get binding(): Buffer {
    return Buffer.from(JSON.stringify(["response object", this.owner.id, this.owner.accountId]));
  }
}

/** The lengths of the texts that follow, in bytes. */
interface ContentHead {
  readonly input: readonly number[];
  readonly output: readonly number[];
  readonly response: number | null;
  /** That of the handovers, which are one JSON object; absent if there are none. */
  readonly handovers?: number;
}

/** Writes a line with the lengths of the texts, and then the texts: they are JSON already, and quoting them again would cost a tenth more. */
function encodeContent({ input, output, response, handovers }: ObjectContent): Buffer {
  const kept = Object.keys(handovers).length === 0 ? "" : JSON.stringify(handovers);
  const lengths = (texts: readonly string[]) => texts.map((text) => Buffer.byteLength(text));
  const head: ContentHead = {
    input: lengths(input),
    output: lengths(output),
    response: response === null ? null : Buffer.byteLength(response),
    ...(kept === "" ? {} : { handovers: Buffer.byteLength(kept) }),
  };
  return Buffer.from(`${JSON.stringify(head)}\n${[...input, ...output, response ?? "", kept].join("")}`);
}

function decodeContent(bytes: Buffer): ObjectContent {
  const end = bytes.indexOf("\n");
  const head = JSON.parse(bytes.toString("utf8", 0, end)) as ContentHead;
  let at = end + 1;
  const take = (length: number): string => {
    at += length;
    return bytes.toString("utf8", at - length, at);
  };
  return {
    input: head.input.map(take),
    output: head.output.map(take),
    response: head.response === null ? null : take(head.response),
    handovers: head.handovers === undefined ? {} : (JSON.parse(take(head.handovers)) as Handovers),
  };
}
