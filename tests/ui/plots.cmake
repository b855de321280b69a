# Panels and figures on made-up data. qcustomplot.h needs the bare `signals` keyword, which the other tests forbid.
function(mambarium_add_plot_test name)
  mambarium_add_test(${name} SOURCES ${name}.cpp plots_fake_data.cpp LIBRARIES mambarium_ui GUI)
  target_compile_options(${name} PRIVATE -UQT_NO_KEYWORDS)
  target_compile_definitions(${name} PRIVATE MAMBARIUM_PICTURES_DIR="${CMAKE_BINARY_DIR}/pictures")
endfunction()

mambarium_add_plot_test(axis_range_test)
mambarium_add_plot_test(panels_test)
mambarium_add_plot_test(plots_gallery)
mambarium_add_plot_test(figure_command_test)
mambarium_add_plot_test(figure_test)
mambarium_add_plot_test(export_dialog_test)
mambarium_add_plot_test(run_figure_test)

foreach(name sweep_panel_test sweep_figure_test sweep_gallery)
  mambarium_add_plot_test(${name})
  target_sources(${name} PRIVATE sweep_fake_data.cpp)
endforeach()
