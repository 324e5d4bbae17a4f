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

/** The targets of conversations, and all of them for text completions. */
interface TargetLists {
  readonly conversations: readonly ProviderTarget[];
  readonly all: readonly ProviderTarget[];
}

interface UsableTargets extends CalledFor {
  readonly targets: readonly ProviderTarget[];
}

/** What follows from a deployment and one key. */
interface KeyedCalls {
  readonly lines: UpstreamLine[];
  readonly usable: UsableTargets[];
}

/**
 * What follows from a model endpoint, its model and its provider, and is the same for every request: computed when it is first asked for, and
 * kept as long as the catalog rows are the same.
 */
export class ServedDeployment {
  /** The model is the free variant of one. */
  readonly isFree: boolean;
  /** The prices of the deployment, and of other models that its answers name. */
  readonly rates = new RateMemory();
  private besides: boolean | null = null;
  private platform: TargetLists | null = null;
  /** The targets with a BYOK key, with which everything may be sent. */
  private byok: TargetLists | null = null;
  private readonly byKey = new WeakMap<ProviderKey, KeyedCalls>();
  private readonly storeless = new Map<ProviderTarget, Map<string, ProviderTarget>>();
  private readonly lacking = new WeakPairs<ProviderTarget, ReadonlySet<string>, ProviderTarget>();
  private readonly repriced = new WeakMap<ModelEndpoint, ServedDeployment>();

  constructor(
    readonly model: ModelRecord,
    readonly endpoint: ModelEndpoint,
    readonly provider: ServedProvider,
  ) {
    this.isFree = isFreeId(model.id);
  }

  /** Returns the same deployment with other prices, which `endpoint` has. */
  pricedAs(endpoint: ModelEndpoint): ServedDeployment {
    let served = this.repriced.get(endpoint);
    if (served === undefined) {
      served = new ServedDeployment(this.model, endpoint, this.provider);
      this.repriced.set(endpoint, served);
    }
    return served;
  }

  /** Whether it may charge for more than tokens and a fixed price per request. If not, requests need not be examined for it. */
  get chargesBesideTokens(): boolean {
    this.besides ??= chargesBesideTokens(this.endpoint);
    return this.besides;
  }

  /**
   * Lists how the deployment is described to the wire formats: one target for each of its formats that an action can use, the preferred one
   * first.
   */
  targets(action: InferenceAction, isByok = false): readonly ProviderTarget[] {
    const { all, conversations } = isByok ? this.byokTargets() : this.platformTargets();
    return action === "completions" ? all : conversations;
  }

  /**
   * Lists the targets for which the address of a key has an endpoint. A single one is not examined, because served models include only
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

  /** Returns targets of this deployment that are not asked to store anything of a request. */
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
    let without = this.lacking.get(target, names);
    if (without === undefined) {
      without = withoutParameters(target, names);
      this.lacking.set(target, names, without);
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
    let calls = this.byKey.get(key);
    if (calls === undefined) {
      calls = { lines: [], usable: [] };
      this.byKey.set(key, calls);
    }
    return calls;
  }

  private withoutStorageOf(target: ProviderTarget, facts: RetentionFacts): ProviderTarget {
    const known = this.storeless.get(target) ?? new Map<string, ProviderTarget>();
    this.storeless.set(target, known);
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
