import { asFields } from "../../../base/json/fields.ts";
import type {
  InferenceRequest,
  ProviderTarget,
} from "../../../wire/client-apis/request/inference-request.ts";
import { ANSWER_PARAMETERS } from "../../../wire/conversation/answer-parameters.ts";
import { type ParameterView, reviewParameters } from "../../../wire/conversation/parameter-rules.ts";
import { reachesField } from "../../catalog/profile/endpoint-profile.ts";
import { isLacking, STRUCTURED_OUTPUTS } from "../../catalog/profile/resolve-takes.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import type { RouteQuestion } from "../../routing/plan/plan.ts";

type Losses = Pick<RouteQuestion, "isLossy">;
type AskedRequest = Pick<InferenceRequest, "action" | "format" | "demands">;

/** Nothing is lost at any deployment. */
export const NO_LOSSES: Losses = {};

/**
 * Describes which deployments would lose or change a parameter that decides the answer (`ANSWER_PARAMETERS`). Reads only the top-level
 * members of the body. If none of these parameters is set, no deployment is examined.
 */
export function describeLosses(request: AskedRequest): Losses {
  const view = request.demands.viewParameters?.();
  if (view === undefined) return NO_LOSSES;
  const asked = listAsked(view);
  if (asked.length === 0) return NO_LOSSES;
  const test = new LossTest(request, view, asked);
  return { isLossy: (deployment) => test.isLossy(deployment) };
}

/** A parameter that a request sets. */
interface Asked {
  readonly name: string;
  /** Its position in the view. */
  readonly at: number;
}

function listAsked(view: ParameterView): readonly Asked[] {
  const asked: Asked[] = [];
  for (let at = 0; at < view.count; at++) {
    const field = view.parameterAt(at);
    const name = OTHER_NAMES[field] ?? field;
    if (ANSWER_PARAMETERS.has(name)) asked.push({ name, at });
  }
  return asked;
}

/** Fields of other client APIs, with the parameter of chat completions that each corresponds to. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  random_seed: "seed",
  thinking: "reasoning",
  text: "response_format",
  output_config: "response_format",
};

class LossTest {
  /** The features that the request needs; null until they are first read. */
  private needed: readonly string[] | null = null;

  constructor(
    private readonly request: AskedRequest,
    private readonly view: ParameterView,
    private readonly asked: readonly Asked[],
  ) {}

  /**
   * Returns whether a parameter is lost in the format of the request. If the deployment lacks that format, returns whether one is lost in
   * each of its formats.
   */
  isLossy(deployment: Deployment): boolean {
    const targets = deployment.served.targets(this.request.action);
    const own = targets.find(({ format }) => format === this.request.format);
    return (
      this.isLacking(deployment) || (own === undefined ? targets : [own]).every((one) => this.isLossyIn(one))
    );
  }

  private isLacking({ endpoint, model, provider: { record } }: Deployment): boolean {
    if (endpoint.lacks === undefined) return false;
    const taking = { endpoint, model, record };
    return this.asked.some((one) => isLacking(taking, one.name) && this.isWanted(one));
  }

  private isLossyIn(target: ProviderTarget): boolean {
    const { takes = null, format, refusedFields: refused, knownFields: known, renames } = target;
    if (takes !== null && this.asked.some(({ name }) => takes.rules.has(name))) {
      const { changes } = reviewParameters(takes, this.view);
      if (this.asked.some((one) => changes.some(({ at }) => at === one.at) && this.isWanted(one)))
        return true;
    }
    if (target.takesSchemas === false && this.wantsSchema()) return true;
    const seedField = renames.find(([from]) => from === "seed")?.[1] ?? "seed";
    const fields = { format, refused, known, seedField };
    return this.asked.some((one) => !reachesField(one.name, fields) && this.isWanted(one));
  }

  private isWanted({ name, at }: Asked): boolean {
    const value = this.view.valueAt(at);
    if (value === null || value === DEFAULTS[name]) return false;
    if (name === "response_format") return this.needs("response_format") || this.needs(STRUCTURED_OUTPUTS);
    return name !== "reasoning" || !isOff(asFields(value) ?? {});
  }

  private wantsSchema(): boolean {
    return this.asked.some(({ name }) => name === "response_format") && this.needs(STRUCTURED_OUTPUTS);
  }

  private needs(name: string): boolean {
    this.needed ??= this.request.demands.listNeeds().parameters;
    return this.needed.includes(name);
  }
}

/** Parameter values without effect, because they are the default of every vendor. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  frequency_penalty: 0,
  logprobs: false,
  n: 1,
  presence_penalty: 0,
  reasoning_effort: "none",
};

/** Returns whether a reasoning object of a client API switches reasoning off. */
function isOff({ enabled, effort, type }: Readonly<Record<string, unknown>>): boolean {
  return enabled === false || effort === "none" || type === "disabled";
}
