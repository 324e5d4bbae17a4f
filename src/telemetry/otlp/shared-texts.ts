import { BoundedMap } from "../../base/collections/bounded-map.ts";

/** Texts that are kept; the oldest makes room for a new one. Up to a kilobyte each. */
const MAX_TEXTS = 1_000;

/** Keeps encoded texts that many spans share, because encoding one costs ten times as much as finding it. */
export class SharedTexts {
  private readonly texts = new BoundedMap<string, string>({ max: MAX_TEXTS });

  /** Returns the text of a key, which `encode` returns the first time. */
  find(key: string, encode: () => string): string {
    const known = this.texts.get(key);
    if (known !== undefined) return known;
    const text = encode();
    this.texts.set(key, text);
    return text;
  }
}
