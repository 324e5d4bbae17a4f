import { isEmpty } from "../../../base/json/fields.ts";
import type { LeftOut } from "../../../base/json/splice.ts";
import { type ComposedBytes, ownBytesOf } from "../../../base/text/composed-bytes.ts";
import { CACHE_CONTROL } from "../../conversation/cache-marking.ts";
import type { Repair } from "../../conversation/calls/outline.ts";
import type { RequestNeeds } from "../../conversation/needs.ts";
import { NOTHING_LEFT_OUT, type ProfileReview } from "../../conversation/request-profile.ts";
import type { ScannedRequest } from "../../conversation/scanned-request.ts";
import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import { reviewScanned, toLeftOut } from "../fit/apply-profile.ts";
import { listRejectedFields } from "../fit/apply-provider.ts";
import { forcesTool } from "../fit/fit-forced-tool.ts";
import type { EncodedBody, ProviderTarget, UpstreamTarget } from "../request/inference-request.ts";

/** A request of a client API, as far as it may be forwarded. */
export interface Forwarding {
  readonly traits: FormatTraits;
  readonly scanned: ScannedRequest;
  listNeeds(): RequestNeeds;
  /** Returns how the bytes are forwarded to a target, as far as the format decides that; null: the request is translated. */
  fit(target: UpstreamTarget): OwnFit | null;
}

/** How a client API forwards a request to one target of its own format: its bytes with a few edits. */
export interface OwnFit {
  /** Returns warnings for fields that the upstream does not get, or gets changed. Absent: those that it rejects. */
  listWarnings?(): readonly Warning[];
  /** Returns further losses that another format of the endpoint would avoid. Absent: none. */
  listLosses?(): readonly Warning[];
  /** `leftOut`: what may cost more than there are prices for. */
  forward(leftOut: LeftOut): ForwardedBody;
}

/** The body that an upstream of the client's own format gets. */
interface ForwardedBody {
  readonly body: Buffer | ComposedBytes;
  /** The repair of its tool calls; null where nothing had to change. */
  readonly repair: Repair | null;
  /** It may hold reasoning that the vendor rejects. */
  readonly carriesReasoning: boolean;
}

/** The name of the field by which clients of OpenAI's formats mark prompts, as it stands in JSON. */
export const BREAKPOINT = Buffer.from('"prompt_cache_breakpoint"');

/** Returns how the client's bytes are forwarded to a target; null if the request is translated for it. */
export function fitForwarding(parts: Forwarding, target: UpstreamTarget): ForwardFit | null {
  const { provider } = target;
  const { text, root } = parts.scanned;
  if (provider.format !== parts.traits.name || !isPlain(target)) return null;
  if (provider.takesSchemas === false && parts.listNeeds().parameters.includes("structured_outputs"))
    return null;
  if (hasForeignMarks(parts, provider)) return null;
  if (provider.model.forcedTools !== undefined && forcesTool(text, root)) return null;
  const own = parts.fit(target);
  return own === null ? null : new ForwardFit(parts, provider, own);
}

/** Whether the provider accepts the plain format, and the request is sent as the client wrote it. */
function isPlain({ withReasoning, overrides, provider }: UpstreamTarget): boolean {
  return withReasoning && overrides === null && provider.knownFields === null && isEmpty(provider.bodyFields);
}

/** Whether a request in one of OpenAI's formats has cache marks that the model does not take, or takes in another form. */
function hasForeignMarks({ traits, scanned }: Forwarding, { model }: ProviderTarget): boolean {
  if (traits.cacheMarks !== "breakpoints") return false;
  return scanned.bytes.includes(model.takesBreakpoints === true ? CACHE_CONTROL : BREAKPOINT);
}

/** How the client's bytes are forwarded to one target: the same answers choose the target, warn, and make the body. */
export class ForwardFit {
  private reviewed: ProfileReview | null = null;
  private warnings: readonly Warning[] | null = null;

  constructor(
    private readonly parts: Forwarding,
    private readonly provider: ProviderTarget,
    private readonly own: OwnFit,
  ) {}

  /** @throws GatewayError `invalid_request` as `reviewScanned`. */
  listLosses(): readonly Warning[] {
    const warnings = this.listWarnings();
    const losses = this.own.listLosses?.() ?? [];
    return losses.length === 0 ? warnings : [...warnings, ...losses];
  }

  /** @throws GatewayError `invalid_request` as `reviewScanned`, or if a repair leaves no message. */
  encode(): EncodedBody {
    const { scanned } = this.parts;
    const warnings = this.listWarnings();
    const forwarded = this.own.forward(toLeftOut(this.reviewed ?? NOTHING_LEFT_OUT, scanned));
    const heldBytes = forwarded.body === scanned.bytes ? 0 : ownBytesOf(forwarded.body);
    return { format: this.provider.format, ...forwarded, heldBytes, warnings };
  }

  private listWarnings(): readonly Warning[] {
    if (this.warnings !== null) return this.warnings;
    const { scanned } = this.parts;
    const own = this.own.listWarnings?.() ?? listRejectedFields(scanned.root, this.provider);
    this.reviewed = reviewScanned(scanned, this.provider);
    const { warnings } = this.reviewed;
    this.warnings = warnings.length === 0 ? own : [...own, ...warnings];
    return this.warnings;
  }
}
