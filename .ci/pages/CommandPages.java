import io.rdmacomm.cli.RdmaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine;

/// Writes the man pages of the command and its shell completion, which it makes of the model of its options.
///
///     java -cp rdmacomm.jar .ci/pages/CommandPages.java VERSION DATE FOLDER
final class CommandPages {
    private CommandPages() {}

    public static void main(String[] arguments) throws IOException {
        String version = arguments[0];
        String date = arguments[1];
        Path folder = Path.of(arguments[2]);
        CommandLine command = RdmaCommand.commandLine();
        List<CommandLine> all = new ArrayList<>(List.of(command));
        all.addAll(command.getSubcommands().values());
        all.forEach(each -> Candidates.rewrite(each.getCommandSpec()));

        Path completion = Files.createDirectories(folder.resolve("completion"));
        String script = AutoComplete.bash(command.getCommandName(), command);
        Files.writeString(completion.resolve("rdmacomm.bash"), bash(script));
        Files.writeString(completion.resolve("_rdmacomm"), zsh(script));
        Files.writeString(completion.resolve("rdmacomm.fish"), new FishCompletion(command).text());

        Path pages = Files.createDirectories(folder.resolve("man/man1"));
        for (CommandLine each : all) {
            ManualPage page = new ManualPage(each, version, date);
            Files.writeString(pages.resolve(page.name() + ".1"), page.text());
        }
    }

    /// The completion of bash. For bash `--name=value` is three words, but the script completes a value only behind
    /// `--name` and a space. Where the script knows no words, the name of a file may stand.
    private static String bash(String script) {
        return script
                + """

                # Completes --name=value like --name value.
                function _complete_rdmacomm_words() {
                  local i all=("${COMP_WORDS[@]}") current=$COMP_CWORD
                  local COMP_WORDS=() COMP_CWORD=0
                  for ((i = 0; i < ${#all[@]}; i++)); do
                    if [[ ${all[i]} == "=" && $i -gt 0 && ${all[i - 1]} == --* ]]; then
                      [[ $i -eq $current ]] || continue
                      all[i]=""
                    fi
                    [[ $i -eq $current ]] && COMP_CWORD=${#COMP_WORDS[@]}
                    COMP_WORDS+=("${all[i]}")
                  done
                  _complete_rdmacomm
                  [[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default
                }
                complete -F _complete_rdmacomm_words -o default rdmacomm
                """;
    }

    /// The completion of bash, as a function that zsh loads. The first call defines it, and then completes. For zsh
    /// `--name=value` is one word. Left out are the lines about `compopt`, which zsh does not have, and the one that
    /// changes how zsh completes aliases of other commands.
    private static String zsh(String script) {
        return "#compdef rdmacomm\n"
                + script.replaceAll("(?m)^.*(compopt|setopt COMPLETE_ALIASES|see \\[4]).*\n", "")
                + """

                _rdmacomm_words() {
                  if [[ ${words[CURRENT]} == --*=* ]]; then
                    compset -P 1 "*="
                    words[CURRENT]=("${words[CURRENT]%%=*}" "${words[CURRENT]#*=}")
                    (( CURRENT++ ))
                  fi
                  _bash_complete -o default -F _complete_rdmacomm
                }
                compdef _rdmacomm_words rdmacomm
                _rdmacomm_words
                """;
    }
}
