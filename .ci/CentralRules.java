import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/// Checks a folder in the layout of a Maven repository against what Maven Central asks for, and against what this
/// project promises: licence and commit in each jar, and at run time no dependencies but modules of the same release;
/// for the library in one jar, no dependencies, and nothing in it but what is in the jars of its modules.
/// Signatures are only looked for here; `./release` verifies them.
///
///     java .ci/CentralRules.java STAGING GROUP VERSION COMMIT
///
/// Prints each violation, and exits with 1 if there is one.
final class CentralRules {
    private static final Set<String> JARS =
            Set.of("verbs", "soft", "ibverbs", "fault", "nio", "comm", "mesh", "library");
    private static final Set<String> IN_LIBRARY = Set.of("verbs", "soft", "ibverbs", "comm");
    private static final Map<String, String> CHECKSUMS = Map.of("md5", "MD5", "sha1", "SHA-1");

    private final Path staging;
    private final String group;
    private final String version;
    private final String commit;
    private final List<String> violations = new ArrayList<>();

    private CentralRules(String[] arguments) {
        staging = Path.of(arguments[0]);
        group = arguments[1];
        version = arguments[2];
        commit = arguments[3];
    }

    public static void main(String[] arguments) throws Exception {
        CentralRules rules = new CentralRules(arguments);
        int files = rules.check();
        rules.violations.forEach(each -> System.err.println("[ERROR] " + each));
        if (!rules.violations.isEmpty()) {
            System.exit(1);
        }
        System.out.println("rules of Maven Central: " + files + " files, no violation");
    }

    private int check() throws Exception {
        Path folder = staging.resolve(group.replace('.', '/'));
        Set<String> expected = JARS.stream().map(each -> "rdmacomm-" + each).collect(Collectors.toCollection(TreeSet::new));
        expected.add("rdmacomm-bom");
        Set<String> found = names(folder);
        require(found.equals(expected), folder, "holds " + found + ", and should hold " + expected);
        for (String artifact : found) {
            Path release = folder.resolve(artifact, version);
            String name = artifact + "-" + version;
            Set<String> kinds = new TreeSet<>(Set.of(".pom", "-cyclonedx.json"));
            if (!artifact.equals("rdmacomm-bom")) {
                kinds.addAll(Set.of(".jar", "-sources.jar", "-javadoc.jar"));
            }
            Set<String> files = names(release).stream()
                    .filter(each -> !each.matches(".*\\.(asc|md5|sha1)"))
                    .collect(Collectors.toCollection(TreeSet::new));
            Set<String> wanted = kinds.stream().map(name::concat).collect(Collectors.toCollection(TreeSet::new));
            require(files.equals(wanted), release, "holds " + files + ", and should hold " + wanted);
            checkPom(release.resolve(name + ".pom"), artifact);
            if (kinds.contains(".jar")) {
                checkJar(release.resolve(name + ".jar"));
                checkLicence(release.resolve(name + "-sources.jar"));
            }
        }
        checkLibrary(folder);
        int count = 0;
        try (Stream<Path> all = Files.walk(staging)) {
            for (Path each : all.filter(Files::isRegularFile).sorted().toList()) {
                checkCompanions(each);
                count++;
            }
        }
        return count;
    }

    private void require(boolean condition, Path where, String violation) {
        if (!condition) {
            violations.add(staging.relativize(where) + " " + violation);
        }
    }

    private static Set<String> names(Path folder) throws IOException {
        try (Stream<Path> children = Files.list(folder)) {
            return children.map(each -> each.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /// Each file has a signature, and each file but the checksums has checksums that are right.
    private void checkCompanions(Path file) throws IOException, GeneralSecurityException {
        String name = file.getFileName().toString();
        if (name.matches(".*\\.(md5|sha1)")) {
            return;
        }
        if (name.endsWith(".asc")) {
            require(Files.readString(file).startsWith("-----BEGIN PGP SIGNATURE-----"), file, "is not a signature");
            return;
        }
        require(Files.exists(file.resolveSibling(name + ".asc")), file, "has no signature");
        for (Map.Entry<String, String> checksum : CHECKSUMS.entrySet()) {
            Path sum = file.resolveSibling(name + "." + checksum.getKey());
            byte[] digest = MessageDigest.getInstance(checksum.getValue()).digest(Files.readAllBytes(file));
            boolean right = Files.exists(sum)
                    && Files.readString(sum).strip().equals(HexFormat.of().formatHex(digest));
            require(right, file, "has no right checksum " + checksum.getKey());
        }
    }

    private void checkPom(Path pom, String artifact) throws Exception {
        Element project =
                DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile()).getDocumentElement();
        requireText(pom, project, group, "groupId");
        requireText(pom, project, artifact, "artifactId");
        requireText(pom, project, version, "version");
        for (String path : List.of(
                "name",
                "description",
                "url",
                "licenses/license/name",
                "licenses/license/url",
                "developers/developer/name",
                "developers/developer/url",
                "scm/connection",
                "scm/developerConnection",
                "scm/url",
                "issueManagement/url")) {
            require(text(project, path) != null, pom, "has no " + path);
        }
        String home = String.valueOf(text(project, "url"));
        for (String path : List.of("scm/connection", "scm/url", "issueManagement/url")) {
            String address = String.valueOf(text(project, path));
            require(
                    address.contains(home) && !address.endsWith("/" + artifact),
                    pom,
                    "has " + path + " " + address + ", which is not below " + home);
        }
        require(text(project, "parent/groupId") == null, pom, "has a parent, which is not published");
        String all = Files.readString(pom, StandardCharsets.UTF_8);
        require(!all.contains("${"), pom, "has an expression that is not resolved");
        require(!all.contains("SNAPSHOT"), pom, "depends on a snapshot");
        NodeList dependencies = project.getElementsByTagName("dependency");
        IntStream.range(0, dependencies.getLength())
                .mapToObj(i -> (Element) dependencies.item(i))
                .filter(each -> !"true".equals(text(each, "optional")))
                .forEach(each -> require(
                        group.equals(text(each, "groupId")) && version.equals(text(each, "version")),
                        pom,
                        "depends on " + text(each, "groupId") + ":" + text(each, "artifactId")));
        int count = Map.of("rdmacomm-bom", JARS.size(), "rdmacomm-library", 0).getOrDefault(artifact, -1);
        require(count < 0 || dependencies.getLength() == count, pom, "should name " + count + " modules");
    }

    private void requireText(Path pom, Element project, String wanted, String path) {
        require(wanted.equals(text(project, path)), pom, "has " + path + " " + text(project, path) + ", not " + wanted);
    }

    /// The text at a path of child elements, null if it is missing or empty.
    private static String text(Element from, String path) {
        Element at = from;
        for (String name : path.split("/")) {
            Element next = null;
            for (int i = 0; i < at.getChildNodes().getLength() && next == null; i++) {
                if (at.getChildNodes().item(i) instanceof Element child && child.getTagName().equals(name)) {
                    next = child;
                }
            }
            if (next == null) {
                return null;
            }
            at = next;
        }
        String text = at.getTextContent().strip();
        return text.isEmpty() ? null : text;
    }

    private void checkJar(Path jar) throws IOException {
        checkLicence(jar);
        try (JarFile file = new JarFile(jar.toFile())) {
            Manifest manifest = file.getManifest();
            String built = manifest.getMainAttributes().getValue("Implementation-Commit");
            require(commit.equals(built), jar, "says that it was built from commit " + built + ", not " + commit);
            String said = manifest.getMainAttributes().getValue("Implementation-Version");
            require(version.equals(said), jar, "says that its version is " + said);
            require(
                    file.getEntry("module-info.class") != null
                            || manifest.getMainAttributes().getValue("Automatic-Module-Name") != null,
                    jar,
                    "has no module descriptor");
        }
    }

    /// The library holds the files of its modules, except their descriptors, and no others; and so do its sources, where
    /// `META-INF` does not count.
    private void checkLibrary(Path folder) throws IOException {
        for (String kind : List.of(".jar", "-sources.jar")) {
            Set<String> wanted = new TreeSet<>();
            for (String module : IN_LIBRARY) {
                wanted.addAll(entries(folder, module, kind));
            }
            wanted.removeIf(each -> each.startsWith("module-info."));
            Set<String> found = entries(folder, "library", kind);
            Set<String> odd = new TreeSet<>(found);
            odd.removeAll(wanted);
            wanted.removeAll(found);
            require(odd.isEmpty(), folder, "has in rdmacomm-library" + kind + " also " + odd);
            require(wanted.isEmpty(), folder, "lacks in rdmacomm-library" + kind + " " + wanted);
        }
    }

    private Set<String> entries(Path folder, String module, String kind) throws IOException {
        String artifact = "rdmacomm-" + module;
        Path jar = folder.resolve(artifact).resolve(version).resolve(artifact + "-" + version + kind);
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream()
                    .map(JarEntry::getName)
                    .filter(each -> kind.equals(".jar") || !each.startsWith("META-INF/"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private void checkLicence(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            for (String name : List.of("META-INF/LICENSE", "META-INF/NOTICE")) {
                require(file.getEntry(name) != null, jar, "has no " + name);
            }
        }
    }
}
