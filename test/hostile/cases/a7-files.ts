import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listDamagedLines } from "../../../src/storage/journal/damaged-lines.ts";
import { listOpenEntries } from "../../support/databases/list-open-entries.ts";
import { AS_SHIPPED, makeSite } from "../../support/gateway/gateway-process.ts";
import { ensure, expectStatus, type HostileCase } from "../hostile-case.ts";
import { addAccountWithKey, DOLLAR, expectSound } from "../payer.ts";

/* Files and disks that are not as they should be. */

const LOST = "gen_01hf7yat00abcdefghjkmnpqrs";

const damagedLine: HostileCase = {
  name: "A7 a damaged line in the middle of the journal is logged and kept in a file, and the lines around it are recovered",
  config: "log_level: info",
  async run(bed) {
    const payer = await addAccountWithKey(bed, DOLLAR);
    const messages = [{ role: "user", content: "Hello!" }];
    const body = { model: bed.paidModelOf("openai-chat"), messages };
    for (let asked = 0; asked < 5; asked++)
      await expectStatus(await payer.post("/v1/chat/completions", body), 200);
    const spent = DOLLAR - (await payer.rest());
    const journal = join(bed.dataDir, "journal");
    await bed.crash(() => {
      const files = readdirSync(journal).filter((name) => name.endsWith(".log"));
      const rest = files.map((name) => readFileSync(join(journal, name), "latin1")).join("");
      writeFileSync(join(journal, "00000000.log"), `0badc0de {"id":"${LOST}"}\n${rest}`);
    });
    const line =
      bed
        .printed()
        .split("\n")
        .find((text) => text.includes("were damaged")) ?? "";
    ensure(line.includes('"level":"error"') && line.includes(LOST), bed.printed().slice(-500));
    const [kept, ...more] = listDamagedLines(journal);
    ensure(
      kept?.lines === 1 && kept.generations.includes(LOST) && more.length === 0,
      "no line is kept aside",
    );
    const spentThen = DOLLAR - (await payer.rest());
    ensure(spentThen === spent, `${spentThen} nanodollars are spent and not ${spent}`);
    await expectSound(bed, "damaged");
    return expectStatus(await payer.post("/v1/chat/completions", body), 200);
  },
};

const modes: HostileCase = {
  name: "A7 all files of the data directory have the mode 0600, and its folders 0700",
  async run({ dataDir }) {
    const open = listOpenEntries(dataDir);
    ensure(open.length === 0, `others can read ${open.join(", ")}`);
    return "0600/0700";
  },
};

const canMount = Bun.spawnSync(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).success;

const fullDisk: HostileCase = {
  name: "A7 a full disk at the start is reported as such, and not as another gateway",
  async run() {
    if (!canMount) return "skipped: needs unshare and tmpfs";
    for (const size of ["4k", "400k"]) {
      const mount = `mkdir -p "$GATEWAY_DATA_DIR" && mount -t tmpfs -o size=${size} tmpfs "$GATEWAY_DATA_DIR"`;
      const site = makeSite("", ["unshare", "-rm", "sh", "-c", `${mount}; exec "$@"`, "sh", ...AS_SHIPPED]);
      const { exitCode, printed } = await site.startExpectingFailure();
      site.remove();
      ensure(
        exitCode === 1 &&
          printed.includes("database or disk is full") &&
          !printed.includes("another gateway"),
        `exit code ${exitCode}: ${printed.slice(-300)}`,
      );
    }
    return "exit 1";
  },
};

export default [damagedLine, modes, fullDisk];
