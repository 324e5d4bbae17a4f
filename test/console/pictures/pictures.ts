import type { Page } from "playwright-core";

/** A picture of a screen. */
export interface Picture {
  /** The name of the file, without its ending. */
  readonly name: string;
  readonly theme: "light" | "dark";
  readonly path: string;
  /** What is done on the screen before. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** The ids that the paths of pictures contain. */
export interface PictureIds {
  /** A generation with a failover. */
  readonly failover: string;
  /** An organization with credits and members. */
  readonly organization: string;
}

const MODELS = ["anthropic/claude-sonnet-4.6", "openai/gpt-5", "moonshotai/kimi-k2.6"];

async function talk(page: Page): Promise<void> {
  const message = page.getByRole("textbox", { name: /message/i }).first();
  await message.fill("Which of our warehouses is closest to Rotterdam?");
  await message.press("Enter");
  await page.waitForTimeout(4_000);
}

/** Lists the pictures of all screens. */
export function listPictures({ failover, organization }: PictureIds): readonly Picture[] {
  return [
    { name: "requests", theme: "light", path: "/console/requests" },
    { name: "request", theme: "light", path: `/console/requests/${failover}` },
    { name: "request-dark", theme: "dark", path: `/console/requests/${failover}` },
    { name: "usage", theme: "light", path: "/console/usage?range=24h" },
    {
      name: "playground",
      theme: "light",
      path: "/console/playground?models=openai/gpt-5-mini",
      prepare: talk,
    },
    { name: "models", theme: "light", path: "/console/models" },
    { name: "model", theme: "light", path: `/console/models/${MODELS[0]}` },
    { name: "compare", theme: "dark", path: `/console/models/compare?ids=${MODELS.join(",")}` },
    { name: "welcome", theme: "light", path: "/console/welcome" },
    { name: "keys", theme: "light", path: "/console/keys" },
    { name: "budgets", theme: "light", path: "/console/budgets" },
    { name: "credits", theme: "light", path: `/console/credits/${organization}` },
    { name: "people", theme: "light", path: `/console/people/${organization}` },
    { name: "provider-keys", theme: "light", path: "/console/provider-keys" },
    { name: "health", theme: "light", path: "/console/health" },
    { name: "routing", theme: "light", path: "/console/routing?tier=gateway-auto/balanced" },
    { name: "settings", theme: "light", path: "/console/settings" },
    { name: "audit", theme: "light", path: "/console/audit" },
  ];
}
