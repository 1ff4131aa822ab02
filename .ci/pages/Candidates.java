import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// The words that complete the value of an option. The model has the names of enum constants, which the command may
/// not even accept; people write lower case.
final class Candidates {
    private Candidates() {}

    /// Replaces those of the model.
    static void rewrite(CommandSpec spec) {
        for (OptionSpec option : List.copyOf(spec.options())) {
            spec.remove(option);
            spec.addOption(option.completionCandidates() == null ? option : rewritten(option));
        }
    }

    private static OptionSpec rewritten(OptionSpec option) {
        List<String> words = StreamSupport.stream(option.completionCandidates().spliterator(), false)
                .map(each -> word(option, each))
                .toList();
        return option.toBuilder().completionCandidates(words).build();
    }

    private static String word(OptionSpec option, String candidate) {
        String lower = candidate.toLowerCase(Locale.ROOT);
        if (option.converters().length == 0) {
            return lower;
        }
        return Stream.of(lower.replace('_', '-'), lower, lower.replace(" ", ""), lower.replaceFirst("^\\D*", ""))
                .filter(each -> isAccepted(option.converters()[0], each))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        option.longestName() + " accepts no form of its candidate '" + candidate + "'"));
    }

    private static boolean isAccepted(ITypeConverter<?> converter, String word) {
        try {
            converter.convert(word);
            return true;
        } catch (Exception _) {
            return false;
        }
    }
}
