/** The code of the screens for operating the gateway. */
export { default as Audit } from "./audit/audit.tsx";
export { default as Guardrails } from "./guardrails/guardrails.tsx";
export { default as Health } from "./health/health.tsx";
export { default as Routing } from "./routing/routing.tsx";
export { default as Settings } from "./settings/settings.tsx";
