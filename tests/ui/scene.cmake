# The 3-D scene: geometry and files need no screen, the scene itself needs OpenGL.
mambarium_add_test(flow_geometry_test SOURCES flow_geometry_test.cpp LIBRARIES mambarium_ui)
mambarium_add_test(flow_files_test SOURCES flow_files_test.cpp LIBRARIES mambarium_ui VTK::IOXML VTK::CommonDataModel)
mambarium_add_test(flow_scene_test SOURCES flow_scene_test.cpp LIBRARIES mambarium_ui GUI)
