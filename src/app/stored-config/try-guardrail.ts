import { fail } from "../../base/failures/errors.ts";
import { SILENT } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import { nextTurn } from "../../base/time/next-turn.ts";
import { checkTexts } from "../../core/extensions/guardrails/check-texts.ts";
import { Masks } from "../../core/extensions/guardrails/masks.ts";
import type { GuardrailTrial } from "../../core/stored-config/config-manager.ts";
import { TextWebhook } from "../../telemetry/webhooks/text-webhook.ts";
import type { Config } from "../config/config-schema.ts";
import { readGuardrails } from "../config/guardrail-schema.ts";

/** The request that a tried text belongs to: none. */
const ABOUT = { generationId: "gen_trial", api: "chat", model: "trial", accountId: null, keyId: null };

/** Checks a text with a guardrail of a configuration, enabled or not, as if a request had it. `name` is what it is called in masks. */
export async function tryGuardrail(
  { guardrails }: Config,
  { id, name }: { readonly id: string; readonly name: string },
  { text, clock }: { readonly text: string; readonly clock: Clock },
): Promise<GuardrailTrial> {
  const wanted = guardrails?.filter((one) => one.name === id).map((one) => ({ ...one, name, enabled: true }));
  const [guardrail] = readGuardrails(
    wanted,
    (hook) => new TextWebhook(hook, { clock, log: SILENT, onVerdict() {} }),
  );
  if (guardrail === undefined) return fail("invalid_request", "The guardrail has no name.");
  const parts = { masks: new Masks(), about: ABOUT, pause: nextTurn };
  const { findings, masked } = await checkTexts([guardrail], [text], parts);
  const [finding] = findings;
  return {
    action: finding?.action ?? "none",
    kinds: finding?.kinds ?? [],
    reason: finding?.reason ?? null,
    text: masked.get(0) ?? text,
  };
}
