import { recordSteps } from "../usage/records/route-step.ts";
import type { GenerationCall } from "./call/call.ts";
import type { AdmittedGeneration } from "./call/extension.ts";
import type { Admission } from "./prepare/admission.ts";
import type { OpenRecord } from "./records/open-record.ts";

/** A generation, as its extensions see it. A class, because an object with a function costs several times as much per request. */
export class ExtendedGeneration implements AdmittedGeneration {
  constructor(
    readonly call: GenerationCall,
    readonly spender: OpenRecord,
    private readonly admission: Admission,
  ) {}

  get id(): string {
    return this.spender.id;
  }

  get zeroRetention(): boolean {
    return this.admission.zeroRetention;
  }

  get namedRoutes(): AdmittedGeneration["namedRoutes"] {
    return this.admission.namedRoutes;
  }

  /** A request that is itself a copy is not copied again. */
  get shadow(): AdmittedGeneration["shadow"] {
    return this.call.shadowOf === undefined ? this.admission.shadow : null;
  }

  describeRequest(): string {
    const { route, headers } = this.call;
    const names = [...ANSWER_HEADERS, ...this.admission.serving.tiers.headers];
    return JSON.stringify([route, names.map((name) => [name, headers.get(name)])]);
  }

  describeChoice(): string {
    const { requestedId, deployments, namedRoutes } = this.admission;
    const choice = deployments.map((ofModel) =>
      ofModel.map(({ model, provider, endpoint, overrides = null }) => [
        model.id,
        provider.record.slug,
        endpoint.name,
        overrides,
      ]),
    );
    return JSON.stringify([requestedId, recordSteps(namedRoutes), choice]);
  }

  listModels(): readonly string[] {
    const { requestedId, deployments } = this.admission;
    return [requestedId, ...new Set(deployments.flat().map(({ model }) => model.id))];
  }
}

/** Headers that can change which deployment answers, or how. Those of tiers are added separately. */
const ANSWER_HEADERS = ["x-gateway-organization", "anthropic-beta"];
