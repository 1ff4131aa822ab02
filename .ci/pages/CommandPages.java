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
        String bash = AutoComplete.bash(command.getCommandName(), command);
        Files.writeString(completion.resolve("rdmacomm.bash"), bash);
        Files.writeString(completion.resolve("_rdmacomm"), zsh(bash));
        Files.writeString(completion.resolve("rdmacomm.fish"), new FishCompletion(command).text());

        Path pages = Files.createDirectories(folder.resolve("man/man1"));
        for (CommandLine each : all) {
            ManualPage page = new ManualPage(each, version, date);
            Files.writeString(pages.resolve(page.name() + ".1"), page.text());
        }
    }

    /// The completion of bash, as a function that zsh loads. The first call defines it, and then completes.
    private static String zsh(String bash) {
        return "#compdef rdmacomm\n" + bash + "\n_bash_complete -o default -F _complete_rdmacomm\n";
    }
}
