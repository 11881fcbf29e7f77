// Completion for bash 3.2 and later, without the bash-completion package.

import type { CommandWords, FlagWords } from './tree.ts';

const functionName = (program: string) => `_${program.replace(/\W/g, '_')}`;

export function bashScript(program: string, commands: readonly CommandWords[]): string {
  const name = functionName(program);
  return `# bash completion for ${program}; written by: ${program} completion bash
${name}_words() {
  case "$1" in
${commands.map((command) => `    ${quote(command.path)}) echo ${quote(wordsOf(command))} ;;`).join('\n')}
  esac
}

# The values of a flag; nothing when any file may follow, "-" when no value follows.
${name}_values() {
  case "$1 $2" in
${commands.flatMap((command) => command.flags.flatMap((flag) => valueCases(command, flag))).join('\n')}
    *) echo - ;;
  esac
}

${name}() {
  local cur prev path word words values i
  cur="\${COMP_WORDS[COMP_CWORD]}"
  prev="\${COMP_WORDS[COMP_CWORD-1]}"
  path=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [ -n "$(${name}_words "$(echo $path $word)")" ]; then path="$(echo $path $word)"; fi
  done
  # "--flag=value" comes as three words: the flag, "=" and the value.
  if [ "$cur" = "=" ]; then cur=""; elif [ "$prev" = "=" ]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  case "$prev" in
    -*)
      values="$(${name}_values "$path" "$prev")"
      if [ "$values" != "-" ]; then
        if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi
        return
      fi
      ;;
  esac
  words="$(${name}_words "$path")"
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    *)
      COMPREPLY=($(compgen -W "$(for word in $words; do case "$word" in -*) ;; *) echo "$word" ;; esac; done)" -- "$cur"))
      if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$cur")); fi
      ;;
  esac
}
complete -o filenames -F ${name} ${program}
`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const wordsOf = ({ children, choices, flags }: CommandWords): string =>
  [...children, ...choices, ...flags.flatMap(({ long, short }) => [long, short])].filter(Boolean).join(' ');

function valueCases({ path }: CommandWords, { long, short, takesValue, choices }: FlagWords): string[] {
  if (!takesValue) return [];
  const patterns = [long, short].filter(Boolean).map((word) => quote(`${path} ${word}`));
  return [`    ${patterns.join(' | ')}) echo ${quote(choices.join(' '))} ;;`];
}
