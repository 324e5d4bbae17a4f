import { sha256 } from "../../base/secrets/hash.ts";

/** Labels of former keys that are remembered. */
const MAX_FORMER = 10_000;

/**
 * Names the platform keys of providers by their ids in the configuration, or by their order: `openai#main`, `openai#0`. An unchanged key keeps its label. No other key gets
 * the same label while the gateway runs, because late outcomes of requests with a former key must not count for its successor.
 */
export class PlatformKeyLabels {
  /** The hash of each label's secret. */
  private readonly owners = new Map<string, string>();

  /** Returns the label of a key of a provider. `name` is its id, or its position. */
  labelOf(slug: string, name: string | number, secret: string | null): string {
    const owner = sha256(`${slug} ${secret ?? ""}`, "hex");
    const first = `${slug}#${name}`;
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
