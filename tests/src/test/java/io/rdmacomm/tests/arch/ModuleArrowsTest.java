package io.rdmacomm.tests.arch;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static io.rdmacomm.tests.arch.Production.CLASSES;
import static io.rdmacomm.tests.arch.Production.CLI;
import static io.rdmacomm.tests.arch.Production.COMM;
import static io.rdmacomm.tests.arch.Production.EXAMPLES;
import static io.rdmacomm.tests.arch.Production.FAULT;
import static io.rdmacomm.tests.arch.Production.IBVERBS;
import static io.rdmacomm.tests.arch.Production.KERNEL_DRIVERS;
import static io.rdmacomm.tests.arch.Production.MESH;
import static io.rdmacomm.tests.arch.Production.NATIVE;
import static io.rdmacomm.tests.arch.Production.NIO;
import static io.rdmacomm.tests.arch.Production.SOFT;
import static io.rdmacomm.tests.arch.Production.SPI;
import static io.rdmacomm.tests.arch.Production.VERBS;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.spi.RdmaProvider;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The allowed dependencies of modules and packages: `cli -> {mesh -> comm, nio} -> verbs <- {ibverbs, soft, fault}`.
class ModuleArrowsTest {
    /// Allowed dependencies of a library module outside rdmacomm: the JDK, and annotations that only the compiler
    /// reads.
    private static final String[] JDK_ONLY = {
        "java..", "jdk.jfr..", "jdk.net..", "org.jspecify.annotations..", "com.google.errorprone.annotations.."
    };

    private static final String[] VERBS_OF_USERS = {
        "io.rdmacomm.verbs", "io.rdmacomm.verbs.cm", "io.rdmacomm.verbs.lifetime"
    };

    /// The packages that version 1.0 does not freeze. They use only what every program can use (decision 104).
    private static final String[] ANNEXES = {MESH, CLI, EXAMPLES};

    private static final String[] CORE = {VERBS, SOFT, IBVERBS, FAULT, COMM, NIO};

    @Test
    void packagesAreFreeOfCycles() {
        slices().matching("io.rdmacomm.(**)")
                .should()
                .beFreeOfCycles()
                .ignoreDependency(resideInAnyPackage(VERBS_OF_USERS), resideInAPackage(SPI))
                .ignoreDependency(resideInAPackage("io.rdmacomm.verbs"), resideInAPackage("io.rdmacomm.verbs.lifetime"))
                .because(
                        "a reader only walks downward; the objects of users hold their drivers and their lifetime, which"
                                + " name the values of users")
                .check(CLASSES);
    }

    @Test
    void verbsSeesOnlyTheJdk() {
        seesOnly(VERBS);
    }

    @Test
    void softSeesOnlyVerbs() {
        seesOnly(SOFT, VERBS);
    }

    @Test
    void ibverbsSeesOnlyVerbs() {
        seesOnly(IBVERBS, VERBS);
    }

    @Test
    void faultSeesOnlyVerbs() {
        seesOnly(FAULT, VERBS);
    }

    @Test
    void nativeCallsKnowAddressesNotObjects() {
        seesOnly(NATIVE);
    }

    @Test
    void commSeesOnlyVerbs() {
        // All in java.base but javax.management, whose module java.management may be missing.
        seesOnly(COMM, VERBS, "javax.crypto..", "javax.net.ssl..", "javax.management..");
    }

    @Test
    void nioSeesOnlyVerbs() {
        seesOnly(NIO, VERBS);
    }

    @Test
    void commExportsSessionsExchangesAndStatistics() throws URISyntaxException {
        assertThat(exportedBy(ServerSession.class))
                .containsExactlyInAnyOrder(
                        "io.rdmacomm.comm", "io.rdmacomm.comm.exchange", "io.rdmacomm.comm.statistics");
    }

    @Test
    void meshExportsMeshesAndCollectives() throws URISyntaxException {
        assertThat(exportedBy(Mesh.class)).containsExactlyInAnyOrder("io.rdmacomm.mesh", "io.rdmacomm.mesh.collective");
    }

    @Test
    void annexesSeeOnlyWhatIsExportedToAll() throws URISyntaxException {
        Set<String> exported = exportedToAll();
        noClasses()
                .that()
                .resideInAnyPackage(ANNEXES)
                .should()
                .dependOnClassesThat(resideInAnyPackage(CORE)
                        .and(DescribedPredicate.describe(
                                "are not exported to all", type -> !exported.contains(type.getPackageName()))))
                .because("a stranger could write them")
                .check(CLASSES);
    }

    @Test
    void onlyTheCoreHasFriends() throws URISyntaxException {
        assertThat(exportsOfTheCore()
                        .filter(ModuleDescriptor.Exports::isQualified)
                        .flatMap(exports -> exports.targets().stream()))
                .isNotEmpty()
                .isSubsetOf("io.rdmacomm.soft", "io.rdmacomm.ibverbs", "io.rdmacomm.comm", "io.rdmacomm.nio");
    }

    @Test
    void meshSeesOnlyCommAndVerbs() {
        seesOnly(MESH, COMM, VERBS);
    }

    /// A type that a program sees, but may not name. The compiler's own warning is off, because it
    /// would also ask for the annotations of JSpecify.
    @Test
    void exportedTypesShowOnlyExportedTypes() throws URISyntaxException {
        Set<String> exported = exportedToAll();
        exported.addAll(exportedBy(Mesh.class));
        DescribedPredicate<JavaClass> named = DescribedPredicate.describe(
                "are exported",
                type -> type.isPrimitive()
                        || type.getPackageName().matches("java\\..*|javax\\.net\\.ssl")
                        || (isVisible(type.getModifiers()) && exported.contains(type.getPackageName())));
        List<String> hidden = CLASSES.stream()
                .filter(type -> exported.contains(type.getPackageName()) && isVisible(type.getModifiers()))
                .flatMap(type -> type.getCodeUnits().stream())
                .filter(unit -> isVisible(unit.getModifiers()))
                .filter(unit -> !named.test(unit.getRawReturnType().getBaseComponentType())
                        || !unit.getRawParameterTypes().stream()
                                .map(JavaClass::getBaseComponentType)
                                .allMatch(named))
                .map(JavaCodeUnit::getFullName)
                .toList();
        assertThat(exported).contains("io.rdmacomm.comm", "io.rdmacomm.verbs");
        assertThat(hidden).isEmpty();
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }

    @Test
    void examplesSeeOnlyThePublicApi() {
        seesOnly(EXAMPLES, COMM, MESH, "io.rdmacomm.verbs", "io.rdmacomm.verbs.cm");
    }

    @Test
    void noClassNamesAProvider() {
        for (String provider : List.of(SOFT, IBVERBS, FAULT)) {
            noClasses()
                    .that()
                    .resideOutsideOfPackage(provider)
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage(provider)
                    .because("a provider is found by ServiceLoader")
                    .check(CLASSES);
        }
    }

    @Test
    void onlyOneClassNamesAKernelDriver() {
        noClasses()
                .that()
                .resideOutsideOfPackages(KERNEL_DRIVERS)
                .and()
                .doNotHaveFullyQualifiedName("io.rdmacomm.ibverbs.Drivers")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(KERNEL_DRIVERS)
                .because("devices of other drivers do not pay for the workarounds")
                .check(CLASSES);
    }

    @Test
    void onlyProvidersUseTheProviderInterface() {
        noClasses()
                .that()
                .resideOutsideOfPackages(VERBS, SOFT, IBVERBS, FAULT)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(SPI)
                .because("users of verbs do not need it")
                .check(CLASSES);
    }

    @Test
    void providersExportNothing() throws URISyntaxException {
        List<Class<? extends RdmaProvider>> providers = ServiceLoader.load(RdmaProvider.class).stream()
                .<Class<? extends RdmaProvider>>map(ServiceLoader.Provider::type)
                .toList();
        assertThat(providers).isNotEmpty();

        for (Class<? extends RdmaProvider> provider : providers) {
            ModuleDescriptor module = moduleOf(provider);
            assertThat(module.isOpen() || module.isAutomatic())
                    .as(module.name())
                    .isFalse();
            assertThat(module.exports()).as(module.name()).isEmpty();
            assertThat(module.opens()).as(module.name()).isEmpty();
            assertThat(module.provides())
                    .as("the provider as a module and on the class path")
                    .flatExtracting(ModuleDescriptor.Provides::providers)
                    .containsExactly(provider.getName());
        }
    }

    @Test
    void packageNamesDescribeTheirContent() {
        noClasses()
                .should()
                .resideInAnyPackage(
                        "..common..",
                        "..core..",
                        "..util..",
                        "..utils..",
                        "..impl..",
                        "..base..",
                        "..manager..",
                        "..helper..",
                        "..helpers..")
                .because("such a name does not describe the content")
                .check(CLASSES);
    }

    private static void seesOnly(String module, String... others) {
        classes()
                .that()
                .resideInAPackage(module)
                .should()
                .onlyDependOnClassesThat(
                        resideInAPackage(module).or(resideInAnyPackage(others)).or(resideInAnyPackage(JDK_ONLY)))
                .check(CLASSES);
    }

    /// The packages that the module of a class exports to all.
    private static Stream<ModuleDescriptor.Exports> exportsOfTheCore() throws URISyntaxException {
        return Stream.of(moduleOf(Context.class), moduleOf(ServerSession.class), moduleOf(RdmaSelectorProvider.class))
                .flatMap(module -> module.exports().stream());
    }

    private static Set<String> exportedToAll() throws URISyntaxException {
        return exportsOfTheCore()
                .filter(exports -> !exports.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toSet());
    }

    private static Set<String> exportedBy(Class<?> ofModule) throws URISyntaxException {
        return moduleOf(ofModule).exports().stream()
                .filter(exports -> !exports.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toSet());
    }

    /// The tests run on the class path, where a class does not know its module.
    private static ModuleDescriptor moduleOf(Class<?> provider) throws URISyntaxException {
        Path jarOrFolder = Path.of(
                provider.getProtectionDomain().getCodeSource().getLocation().toURI());
        return ModuleFinder.of(jarOrFolder).findAll().iterator().next().descriptor();
    }
}
