import { WeakPairs } from "../../base/collections/weak-pairs.ts";
import { withoutParameters } from "../../wire/client-apis/fit/learnable-parameters.ts";
import type {
  InferenceAction,
  InferenceRequest,
  ProviderTarget,
} from "../../wire/client-apis/request/inference-request.ts";
import type { RetentionFacts } from "../../wire/conversation/stored-data.ts";
import { isConversationFormat, type ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import { chargesBesideTokens, RateMemory } from "../catalog/prices/price-usage.ts";
import { isFreeId } from "../catalog/records/is-free-id.ts";
import type { ModelEndpoint, ModelRecord } from "../catalog/records/records.ts";
import { formatsOf, type ProviderKey, type ServedProvider } from "./served-provider.ts";
import { upstreamActionOf } from "./upstream-address.ts";
import { UpstreamLine } from "./upstream-line.ts";
import { describeTarget, forbidStorage } from "./upstream-target.ts";

type CalledFor = Pick<InferenceRequest, "action" | "stream">;

/** The targets for conversations, and the targets for text completions, which include all. */
interface TargetLists {
  readonly conversations: readonly ProviderTarget[];
  readonly all: readonly ProviderTarget[];
}

interface UsableTargets extends CalledFor {
  readonly targets: readonly ProviderTarget[];
}

/** The values that depend on a deployment and one key. */
interface KeyedCalls {
  readonly lines: UpstreamLine[];
  readonly usable: UsableTargets[];
}

/**
 * What the requests to a deployment have computed. The first of them creates it: most deployments are never asked, and each weak map
 * costs every collection of garbage.
 */
class DeploymentMemory {
  readonly rates = new RateMemory();
  readonly byKey = new WeakMap<ProviderKey, KeyedCalls>();
  readonly storeless = new Map<ProviderTarget, Map<string, ProviderTarget>>();
  readonly lacking = new WeakPairs<ProviderTarget, ReadonlySet<string>, ProviderTarget>();
  readonly repriced = new WeakMap<ModelEndpoint, ServedDeployment>();
}

/**
 * The values of a model endpoint, its model and its provider that are the same for every request. Computed on first use, and kept until a
 * catalog row changes.
 */
export class ServedDeployment {
  /** Whether the model is a free variant. */
  readonly isFree: boolean;
  private besides: boolean | null = null;
  private platform: TargetLists | null = null;
  /** The targets with a BYOK key, which allows every field. */
  private byok: TargetLists | null = null;
  private remembered: DeploymentMemory | null = null;

  constructor(
    readonly model: ModelRecord,
    readonly endpoint: ModelEndpoint,
    readonly provider: ServedProvider,
  ) {
    this.isFree = isFreeId(model.id);
  }

  /** The prices of the deployment, and of other models that its answers refer to. */
  get rates(): RateMemory {
    return this.memory.rates;
  }

  /** Returns the same deployment with the prices of `endpoint`. */
  pricedAs(endpoint: ModelEndpoint): ServedDeployment {
    const { repriced } = this.memory;
    let served = repriced.get(endpoint);
    if (served === undefined) {
      served = new ServedDeployment(this.model, endpoint, this.provider);
      repriced.set(endpoint, served);
    }
    return served;
  }

  /** Whether it may charge for more than tokens and a fixed price per request. If not, requests are not examined for extra charges. */
  get chargesBesideTokens(): boolean {
    this.besides ??= chargesBesideTokens(this.endpoint);
    return this.besides;
  }

  /** Lists the deployment's targets for the wire formats: one for each format that an action can use, the preferred one first. */
  targets(action: InferenceAction, isByok = false): readonly ProviderTarget[] {
    const { all, conversations } = isByok ? this.byokTargets() : this.platformTargets();
    return action === "completions" ? all : conversations;
  }

  /**
   * Lists the targets for which a key's address has an endpoint. A single target is not checked, because served models include only
   * deployments that have an address.
   */
  usableTargets(key: ProviderKey, { action, stream }: CalledFor): readonly ProviderTarget[] {
    const all = this.targets(action, key.byokId !== null);
    if (all.length === 1) return all;
    const { usable } = this.callsWith(key);
    for (const one of usable) if (one.action === action && one.stream === stream) return one.targets;
    const targets = all.filter(({ format, model }) => {
      const call = { format, action: upstreamActionOf(action, format), model: model.name, stream };
      return key.address.urlFor(call) !== null;
    });
    usable.push({ action, stream, targets });
    return targets;
  }

  /** Returns targets of this deployment that never ask the vendor to store anything of a request. */
  withoutStorage(
    targets: readonly ProviderTarget[],
    request: Pick<InferenceRequest, "action" | "prompt">,
  ): readonly ProviderTarget[] {
    const facts = {
      isImages: request.action === "images",
      cachesInMemory: request.prompt.readRetention?.().cachesInMemory ?? false,
    };
    return targets.map((target) => this.withoutStorageOf(target, facts));
  }

  /** Returns a target of this deployment that is sent requests without parameters; each is created once. */
  withoutParameters(target: ProviderTarget, names: ReadonlySet<string>): ProviderTarget {
    const { lacking } = this.memory;
    let without = lacking.get(target, names);
    if (without === undefined) {
      without = withoutParameters(target, names);
      lacking.set(target, names, without);
    }
    return without;
  }

  /** Returns the line of requests with a key in a format; each is created once. */
  lineFor(key: ProviderKey, { action, stream }: CalledFor, format: ProviderFormat): UpstreamLine {
    const { lines } = this.callsWith(key);
    const upstreamAction = upstreamActionOf(action, format);
    for (const line of lines) if (line.isFor({ format, action: upstreamAction, stream })) return line;
    const call = { format, action: upstreamAction, model: this.endpoint.name, stream };
    const url = key.address.urlFor(call);
    // Served models include only deployments that have an address.
    if (url === null) throw new Error(`${this.provider.record.slug} has no address for ${format}`);
    const line = new UpstreamLine(key, call, url);
    lines.push(line);
    return line;
  }

  private get memory(): DeploymentMemory {
    this.remembered ??= new DeploymentMemory();
    return this.remembered;
  }

  private platformTargets(): TargetLists {
    this.platform ??= groupTargets(
      formatsOf(this.provider, this.endpoint).map((format) => describeTarget(this, format)),
    );
    return this.platform;
  }

  private byokTargets(): TargetLists {
    this.byok ??= groupTargets(this.platformTargets().all.map((target) => ({ ...target, profile: null })));
    return this.byok;
  }

  private callsWith(key: ProviderKey): KeyedCalls {
    const { byKey } = this.memory;
    let calls = byKey.get(key);
    if (calls === undefined) {
      calls = { lines: [], usable: [] };
      byKey.set(key, calls);
    }
    return calls;
  }

  private withoutStorageOf(target: ProviderTarget, facts: RetentionFacts): ProviderTarget {
    const { storeless } = this.memory;
    const known = storeless.get(target) ?? new Map<string, ProviderTarget>();
    storeless.set(target, known);
    const kind = `${facts.isImages}/${facts.cachesInMemory}`;
    let storing = known.get(kind);
    if (storing === undefined) {
      storing = forbidStorage(target, facts);
      known.set(kind, storing);
    }
    return storing;
  }
}

function groupTargets(all: readonly ProviderTarget[]): TargetLists {
  const conversations = all.filter(({ format }) => isConversationFormat(format));
  return { all, conversations: conversations.length === all.length ? all : conversations };
}
