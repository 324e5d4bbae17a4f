/** What vendors repeat in their errors and nobody outside should read: keys and tokens, organizations, projects. */
const SECRETS =
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}|(?<=x-amz-security-token:\s*)[^\s"\\]+|\bya29\.[\w.-]+|(?<=\b(?:Team|API key ID): ?)[\w-]{8,}|\b(?:sk|pk|rk|gsk|xai|gw|key|nvapi|hf|pplx|csk|fw)[-_][A-Za-z0-9*_-]{8,}|\b(?:org|proj|acct)[-_][A-Za-z0-9]{6,}|Bearer\s+\S+/g;

const BILLING = /\b(billing|credits?|payments?|invoices?|recharge|balance|quota|upgrade)\b/i;

/** A vendor's words without the sentences about the gateway's account there; null where nothing is left. */
export function withoutBilling(text: string): string | null {
  const kept = text.split(/(?<=[.!?])\s+/).filter((sentence) => !BILLING.test(sentence));
  return kept.length > 0 ? kept.join(" ") : null;
}

/** A vendor's words without secrets, `key` among them. */
export function redact(text: string, key: string | null): string {
  const withoutKey = key !== null && key.length >= 4 ? text.replaceAll(key, "[redacted]") : text;
  return withoutKey.replace(SECRETS, "[redacted]");
}
