package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `docs/62-json.md` names every member of the documents of the commands.
class JsonMembersTest {
    private static final Path DOCUMENTATION = Path.of("../docs/62-json.md");

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "devices",
                "doctor",
                "top --once --interval 0.1",
                "bench --tests read_lat,read_bw --sizes 8 --iterations 100 --warmup 0",
                "bench --transport ud --tests send_lat --sizes 8 --iterations 100 --warmup 0 --no-floors"
            })
    void everyMemberIsDocumented(String command, @TempDir Path folder) throws Exception {
        Path file = folder.resolve("document.json");
        List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
        words.addAll(List.of("--json", file.toString()));
        Command.Result result = Command.run(words.toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isZero();

        Set<String> members = new TreeSet<>();
        collect(JSON.std.mapFrom(Files.readString(file)), members);

        String text = Files.readString(DOCUMENTATION);
        assertThat(members)
                .contains("schema", "environment")
                .allSatisfy(member -> assertThat(text.contains("`" + member + "`"))
                        .as(member + " of " + command)
                        .isTrue());
    }

    /// Counters are documented elsewhere.
    private static void collect(Object value, Set<String> members) {
        if (value instanceof Map<?, ?> map) {
            map.forEach((name, member) -> {
                members.add(String.valueOf(name));
                if (!name.equals("counters") && !name.equals("per_second")) {
                    collect(member, members);
                }
            });
        } else if (value instanceof List<?> list) {
            list.forEach(member -> collect(member, members));
        }
    }
}
