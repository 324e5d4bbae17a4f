/** Texts about snippets for clients. */
export const snippetText = {
  variable: "The snippets read the key from an environment variable. Set it to a key of yours first:",
  set: "Environment variable",
  placeholder: "gw_YOUR_KEY",
  uses: {
    run: "Run in a terminal",
    javascript: "Save as hello.mjs, then run: npm install openai && node hello.mjs",
    python: "Save as hello.py, then run: pip install openai && python hello.py",
    codexFile: "Add to ~/.codex/config.toml",
    opencodeFile: "Save as opencode.json in your project, or as ~/.config/opencode/opencode.json",
  },
};
