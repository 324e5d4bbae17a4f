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

async function talk(page: Page): Promise<void> {
  const message = page.getByRole("textbox", { name: /message/i }).first();
  await message.fill("Which of our warehouses is closest to Rotterdam?");
  await message.press("Enter");
  await page.waitForTimeout(4_000);
}

async function tryGuardrail(page: Page): Promise<void> {
  await page.getByLabel("Name *").fill("contact-data");
  await page.getByRole("button", { name: "Personal data" }).click();
  await page.getByLabel("Action *").selectOption("mask");
  const text = "Call Grace on +49 30 901820, or write to grace@example.com.";
  await page.getByLabel("Text of a request").fill(text);
  await page.getByRole("button", { name: "Try", exact: true }).click();
}

/** Lists the pictures that the documents show. */
export function listPictures({ failover, organization }: PictureIds): readonly Picture[] {
  return [
    { name: "requests", theme: "light", path: "/console/requests" },
    { name: "request", theme: "light", path: `/console/requests/${failover}` },
    { name: "usage", theme: "light", path: "/console/usage?range=24h" },
    { name: "organization", theme: "light", path: `/console/people/${organization}?tab=budgets` },
    { name: "providers", theme: "light", path: "/console/providers" },
    {
      name: "playground",
      theme: "dark",
      path: "/console/playground?models=openai/gpt-5-mini",
      prepare: talk,
    },
    { name: "guardrails", theme: "light", path: "/console/guardrails?new=1", prepare: tryGuardrail },
    { name: "settings", theme: "light", path: "/console/settings" },
  ];
}
