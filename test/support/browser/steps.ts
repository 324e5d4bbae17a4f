import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";

/** What a person does on a page, counted. All of it is done with the keyboard, so that each step is known to work without a mouse. */
export class Steps {
  /** The number of steps: of links and buttons that were followed, keys that were pressed, and texts that were typed and sent. */
  count = 0;

  constructor(readonly page: Page) {}

  /** Follows a link, or presses a button. */
  async follow(target: Locator): Promise<void> {
    await this.#reach(target);
    await this.page.keyboard.press("Enter");
  }

  /** Chooses an option of a select field. */
  async choose(select: Locator, label: string): Promise<void> {
    await this.#reach(select);
    await select.selectOption({ label });
  }

  /** Presses the keys of a shortcut. */
  async press(keys: string): Promise<void> {
    this.count += 1;
    await this.page.keyboard.press(keys);
  }

  /** Types a text into a field and presses Enter, once `offered` is shown if the field offers something. */
  async type(field: Locator, text: string, offered?: Locator): Promise<void> {
    await this.#reach(field);
    await field.fill(text);
    await offered?.waitFor();
    await this.page.keyboard.press("Enter");
  }

  async #reach(target: Locator): Promise<void> {
    this.count += 1;
    await target.focus();
    expect(
      await target.evaluate((element) => (element as unknown as { tabIndex: number }).tabIndex),
    ).toBeGreaterThanOrEqual(0);
  }
}
