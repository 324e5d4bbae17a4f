import { fillTemplate, type Parts } from "./fill-template.ts";

/** Locations whose host is not put together like the others'. */
const HOSTS: Readonly<Record<string, string>> = {
  "https://global-aiplatform.googleapis.com": "https://aiplatform.googleapis.com",
  "https://us-aiplatform.googleapis.com": "https://aiplatform.us.rep.googleapis.com",
  "https://eu-aiplatform.googleapis.com": "https://aiplatform.eu.rep.googleapis.com",
};

/** Where Vertex is for a location. API keys are taken at the global address alone. */
export function vertexBase(template: string, parts: Parts, hasApiKey: boolean): string {
  const filled = fillTemplate(template, hasApiKey ? { ...parts, location: "global" } : parts);
  return HOSTS[filled] ?? filled;
}
