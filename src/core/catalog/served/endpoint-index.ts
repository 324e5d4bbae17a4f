import type { ModelEndpoint, ModelRecord } from "../records/records.ts";

/** A model endpoint with its model. */
export interface FoundEndpoint {
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
}

/** The endpoints of models by the names that their providers use. */
export class EndpointIndex {
  private readonly byName = new Map<string, FoundEndpoint>();

  constructor(models: readonly ModelRecord[]) {
    for (const model of models) {
      for (const endpoint of model.endpoints) {
        const short = `${endpoint.provider}/${shorten(endpoint.name)}`;
        if (!this.byName.has(short)) this.byName.set(short, { model, endpoint });
      }
    }
    for (const model of models)
      for (const endpoint of model.endpoints)
        this.byName.set(`${endpoint.provider}/${endpoint.name}`, { model, endpoint });
  }

  find(provider: string, name: string): FoundEndpoint | null {
    const { byName } = this;
    return byName.get(`${provider}/${name}`) ?? byName.get(`${provider}/${shorten(name)}`) ?? null;
  }
}

/** Removes a version or date: `claude-opus-4-5@20251101` and `claude-opus-4-5-20251101` become `claude-opus-4-5`. */
function shorten(name: string): string {
  return name.replace(/@.*$/, "").replace(/-20\d{6}$/, "");
}
