// lapse completion: generates a shell script from the commands. It completes commands, flags and the values of flags
// with choices. Everything else is completed as a file name.

import { Argument, Command } from 'commander';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { describeCommands } from './tree.ts';
import { zshScript } from './zsh.ts';

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SHELLS;

const EXAMPLES = `
Examples:
  source <(lapse completion bash)                                          this shell
  lapse completion bash > ~/.local/share/bash-completion/completions/lapse every shell
  lapse completion zsh > "\${fpath[1]}/_lapse"
  lapse completion fish > ~/.config/fish/completions/lapse.fish`;

/** `commands` returns all commands. They are loaded only when a script is requested. */
export function completionCommand(commands: () => Promise<readonly Command[]>): Command {
  return new Command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: Shell) => {
      process.stdout.write(SHELLS[shell]('lapse', describeCommands(await commands())));
    });
}
