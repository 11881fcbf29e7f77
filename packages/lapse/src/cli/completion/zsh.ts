// Completion for zsh, with descriptions.

import type { CommandWords, FlagWords } from './tree.ts';

export function zshScript(program: string, commands: readonly CommandWords[]): string {
  const described = new Map(commands.map((command) => [command.path, command.description]));
  const named = commands.filter(({ path }) => path !== '');
  return `#compdef ${program}
# zsh completion for ${program}; written by: ${program} completion zsh
_${program}() {
  local at="" word i flag="\${words[CURRENT-1]}" joined=""
  local -a names flags
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "\${at:+$at }$word" in
${named.map(({ path }) => `      ${quote(path)}) at=${quote(path)} ;;`).join('\n')}
    esac
  done
  # "--flag=value" is one word: what stands before the value is not part of it.
  if [[ "\${words[CURRENT]}" == --*=* ]]; then
    flag="\${words[CURRENT]%%=*}"
    joined=1
    compset -P 1 '*='
  fi
  case "$at $flag" in
${commands.flatMap((command) => command.flags.flatMap((flag) => valueCases(command, flag))).join('\n')}
  esac
  if [[ -n "$joined" ]]; then return 1; fi
  case "$at" in
${commands.map((command) => commandCase(command, described)).join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o flag flags
  elif ((\${#names})); then
    _describe command names
  else
    _files
  fi
}
if [ "$funcstack[1]" = "_${program}" ]; then
  _${program} "$@"
else
  compdef _${program} ${program}
fi
`;
}

function commandCase(
  { path, children, choices, flags }: CommandWords,
  described: ReadonlyMap<string, string>,
): string {
  const about = (child: string) => described.get(path === '' ? child : `${path} ${child}`) ?? '';
  const names = [
    ...children.map((child) => withWords(child, about(child))),
    ...choices.map((one) => quote(one)),
  ];
  const words = flags.flatMap(({ long, short, description }) =>
    [long, short].filter(Boolean).map((word) => withWords(word, description)),
  );
  return `    ${quote(path)}) names=(${names.join(' ')}); flags=(${words.join(' ')}) ;;`;
}

function valueCases({ path }: CommandWords, { long, short, takesValue, choices }: FlagWords): string[] {
  if (!takesValue) return [];
  const patterns = [long, short].filter(Boolean).map((word) => quote(`${path} ${word}`));
  const offer = choices.length === 0 ? '_files' : `compadd -- ${choices.map(quote).join(' ')}`;
  return [`    ${patterns.join(' | ')}) ${offer}; return ;;`];
}

/** `word:description`, as _describe reads it. A colon inside the word is escaped. */
const withWords = (word: string, description: string): string =>
  quote(description === '' ? word : `${word.replaceAll(':', '\\:')}:${description}`);

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
