import { sha256 } from "../../base/secrets/hash.ts";

/** Labels of former keys that are remembered. */
const MAX_FORMER = 10_000;

/**
 * Names the platform keys of providers: `openai#0`, by their order in the configuration. A key that stays in its place keeps its
 * label, and no other key gets it as long as the gateway runs: what is recorded late for a request with a former key must not count for the one in its place.
 */
export class PlatformKeyLabels {
  /** The hash of each label's secret. */
  private readonly owners = new Map<string, string>();

  /** Returns the label of a key of a provider. */
  labelOf(slug: string, index: number, secret: string | null): string {
    const owner = sha256(`${slug} ${secret ?? ""}`, "hex");
    const first = `${slug}#${index}`;
    let label = first;
    for (let version = 2; this.isOfOther(label, owner); version++) label = `${first}.${version}`;
    this.owners.set(label, owner);
    if (this.owners.size > MAX_FORMER) this.owners.delete(this.owners.keys().next().value as string);
    return label;
  }

  private isOfOther(label: string, owner: string): boolean {
    const found = this.owners.get(label);
    return found !== undefined && found !== owner;
  }
}
