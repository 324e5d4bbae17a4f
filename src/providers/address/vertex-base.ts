import { fillTemplate, type TemplateParts } from "./fill-template.ts";

/** Hosts of locations that differ from the template. */
const HOSTS: Readonly<Record<string, string>> = {
  "https://global-aiplatform.googleapis.com": "https://aiplatform.googleapis.com",
  "https://us-aiplatform.googleapis.com": "https://aiplatform.us.rep.googleapis.com",
  "https://eu-aiplatform.googleapis.com": "https://aiplatform.eu.rep.googleapis.com",
};

/** Returns the base URL of Vertex for a location. API keys are accepted only at the global one. */
export function vertexBase(template: string, parts: TemplateParts, hasApiKey: boolean): string {
  const filled = fillTemplate(template, hasApiKey ? { ...parts, location: "global" } : parts);
  return HOSTS[filled] ?? filled;
}
