import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { ensure, type HostileCase } from "../hostile-case.ts";
import type { TestBed } from "../test-bed.ts";

/* Small bodies that unpack to large ones, many at once. */

const UNPACKED_BYTES = 200 * 1024 * 1024;
const AT_ONCE = 64;

const zeros = Buffer.alloc(UNPACKED_BYTES, 32);
const BOMBS: Readonly<Record<string, Buffer>> = {
  gzip: gzipSync(zeros, { level: 9 }),
  br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  zstd: zstdCompressSync(zeros, { params: { [constants.ZSTD_c_windowLog]: 27 } }),
};

/** What a burst may leave behind that the previous one did not. Megabytes. */
const LEFT_MB = 64;
const LOOKS = 50;
const LOOK_MS = 200;

async function burst(bed: TestBed, encoding: string, bomb: Buffer): Promise<string> {
  const headers = { "content-encoding": encoding };
  const sent = Array.from({ length: AT_ONCE }, async () => {
    const response = await bed.post("/v1/chat/completions", bomb, headers);
    await response.text();
    return response.status;
  });
  const statuses = [...new Set(await Promise.all(sent))];
  ensure(
    statuses.every((status) => status >= 400 && status !== 500),
    statuses.join("/"),
  );
  return statuses.join("/");
}

export default Object.entries(BOMBS).map(
  ([encoding, bomb]): HostileCase => ({
    name: `A7 ${AT_ONCE} ${encoding} bombs of ${bomb.length >> 10} kB at once: rejected, and their memory is freed`,
    async run(bed) {
      // The first burst loads the decompressor, whose memory stays.
      await burst(bed, encoding, bomb);
      const { residentMb: before } = await bed.read();
      const status = await burst(bed, encoding, bomb);
      let { residentMb } = await bed.read();
      for (let look = 0; look < LOOKS && residentMb > before + LEFT_MB; look++) {
        await Bun.sleep(LOOK_MS);
        ({ residentMb } = await bed.read());
      }
      ensure(residentMb <= before + LEFT_MB, `${Math.round(residentMb - before)} MB stayed`);
      return status;
    },
  }),
) satisfies readonly HostileCase[];
