import { type HookTarget, postQuestion } from "../../telemetry/webhooks/post-question.ts";
import { listTextWebhooks } from "../config/guardrail-schema.ts";
import { type DoctorScene, type Finding, failure, ok, warning } from "./finding.ts";

/** A text that every service should let pass. */
const TEST_TEXT = "This is a test of a guardrail of the gateway.";

/** Checks the webhooks of guardrails with a harmless text. */
export async function checkGuardrails({ config, clock }: DoctorScene): Promise<readonly Finding[]> {
  const webhooks = listTextWebhooks(config.guardrails);
  return Promise.all(webhooks.map((webhook) => checkWebhook(webhook, clock)));
}

async function checkWebhook(
  { name, onError, ...target }: HookTarget & { readonly name: string; readonly onError: "allow" | "block" },
  clock: DoctorScene["clock"],
): Promise<Finding> {
  const about = {
    generationId: "doctor",
    api: "chat.completions",
    model: "test",
    accountId: null,
    keyId: null,
  };
  const question = { on: "request", texts: [TEST_TEXT], about } as const;
  const reply = await postQuestion(target, { name, question }, clock);
  const subject = `the webhook of ${name} at ${new URL(target.url).origin}`;
  if (reply.kind === "allow") return ok(`${subject} answers`);
  if (reply.kind !== "failed")
    return warning(`${subject} does not let a harmless text pass (${reply.kind})`, "Check its rules.");
  const remedy = "Check its url, secret and headers, and the service.";
  return onError === "block"
    ? failure(`${subject} cannot check texts: ${reply.detail}; requests get a 503`, remedy)
    : warning(`${subject} cannot check texts: ${reply.detail}; they pass unchecked`, remedy);
}
