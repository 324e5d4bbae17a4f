import { runCommand } from "./run-command.ts";

/** What is packed. */
interface ArchiveOptions {
  /** The folder to which the names of the files are relative. */
  readonly folder: string;
  readonly files: readonly string[];
  /** The time of all files in the archive, in seconds since 1970. */
  readonly time: number;
}

/**
 * Packs files into a compressed archive whose bytes depend on their names, contents and executable bits only: sorted, of one time and one
 * owner, in a format without further fields. The Bun of package-lock.json compresses it, because versions of gzip differ.
 * @throws Error if `tar` is not GNU's, which alone has these options.
 */
export async function writeArchive(target: string, { folder, files, time }: ArchiveOptions): Promise<void> {
  const command = [
    "tar",
    "--create",
    "--sort=name",
    "--format=ustar",
    `--mtime=@${time}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u=rwX,go=rX",
    "--no-recursion",
    "--null",
    "--files-from=-",
  ];
  const input = [...files].sort().join("\0");
  const archive = await runCommand(command, { cwd: folder, input });
  await Bun.write(target, Bun.gzipSync(archive as Uint8Array<ArrayBuffer>, { level: 9 }));
}
